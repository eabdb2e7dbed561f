"""Messages of envoy.service.ratelimit.v3 and grpc.health.v1, written and read by hand: enough of
protobuf for a client in another language than the daemon's, with no generated code."""
import grpc

RATE_LIMIT = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"
HEALTH = "/grpc.health.v1.Health/Check"
WATCH = "/grpc.health.v1.Health/Watch"
OK, OVER_LIMIT = 1, 2


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def number(tag, value):
    return varint(tag << 3) + varint(value)


def message(tag, value):
    data = value.encode() if isinstance(value, str) else value
    return varint(tag << 3 | 2) + varint(len(data)) + data


def request(domain, descriptors, hits=0):
    """A descriptor is a list of (key, value) pairs."""
    out = message(1, domain)
    for entries in descriptors:
        out += message(2, b"".join(message(1, message(1, k) + message(2, v)) for k, v in entries))
    return out + (number(3, hits) if hits else b"")


def fields(data):
    """[(tag, value)]: numbers, and bytes of what has a length."""
    found, at = [], 0

    def read():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        head = read()
        if head & 7 == 0:
            found.append((head >> 3, read()))
        else:
            assert head & 7 == 2, head
            size = read()
            found.append((head >> 3, data[at:at + size]))
            at += size
    return found


def first(data, tag, otherwise=0):
    return next((value for t, value in fields(data) if t == tag), otherwise)


def all_of(data, tag):
    return [value for t, value in fields(data) if t == tag]


class Client:
    def __init__(self, address, credentials=None):
        if credentials:
            self.channel = grpc.secure_channel(address, credentials)
        else:
            self.channel = grpc.insecure_channel(address)

    def close(self):
        self.channel.close()

    def call(self, path, data, timeout=10, **more):
        return self.channel.unary_unary(path)(data, timeout=timeout, **more)

    def ask(self, domain, descriptors, hits=0, **more):
        """The overall code, and the statuses' bytes."""
        answer = self.call(RATE_LIMIT, request(domain, descriptors, hits), **more)
        return first(answer, 1), all_of(answer, 2)

    def health(self, service="ratelimit"):
        return first(self.call(HEALTH, message(1, service)), 1)

    def watch(self, service="ratelimit"):
        return self.channel.unary_stream(WATCH)(message(1, service), timeout=30)

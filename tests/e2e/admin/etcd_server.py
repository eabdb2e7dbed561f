"""A real etcd of a test's own, on free ports of the loopback, with its data in a temporary folder,
and a way to it that can be cut."""
import base64
import http.client
import json
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading

from admin_client import until

PREFIX = "/ratelimit/rules/"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def encoded(text):
    return base64.b64encode(text.encode()).decode()


class Etcd:
    """`flags` are etcd's own; `secure` has the ssl context that its clients use."""

    def __init__(self, case, *flags, secure=None):
        self.folder = tempfile.TemporaryDirectory()
        self.data = pathlib.Path(self.folder.name) / "data"
        self.flags, self.secure, self.token, self.process = flags, secure, None, None
        case.addCleanup(self.folder.cleanup)
        case.addCleanup(self.kill)
        for _ in range(5):  # Somebody else may have taken a port since it was free.
            self.port, self.peer_port = free_port(), free_port()
            if self.start():
                return
        raise AssertionError("etcd does not start: " + (self.data.parent / "log").read_text())

    @property
    def endpoint(self):
        return "%s://127.0.0.1:%d" % ("https" if self.secure else "http", self.port)

    def start(self):
        peer = "http://127.0.0.1:%d" % self.peer_port
        with open(self.data.parent / "log", "a") as log:
            self.process = subprocess.Popen(
                ["etcd", "--name", "one", "--data-dir", str(self.data),
                 "--listen-client-urls", self.endpoint, "--advertise-client-urls", self.endpoint,
                 "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                 "--initial-cluster", "one=" + peer, *self.flags],
                stdout=log, stderr=log)

        def up():
            if self.process.poll() is not None:
                return "ended"
            try:
                return self.request("/v3/maintenance/status", {})[0] in (200, 401) and "up"
            except OSError:
                return None
        return until(up) == "up"

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def request(self, path, body):
        if self.secure:
            connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=10,
                                                     context=self.secure)
        else:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        fields = {"Authorization": self.token} if self.token else {}
        connection.request("POST", path, json.dumps(body), fields)
        response = connection.getresponse()
        text = response.read()
        connection.close()
        return response.status, json.loads(text)

    def ask(self, path, **body):
        status, answer = self.request(path, body)
        assert status == 200, answer
        return answer

    def put(self, rule, value):
        text = value if isinstance(value, str) else json.dumps(value)
        return self.ask("/v3/kv/put", key=encoded(PREFIX + rule), value=encoded(text))

    def delete(self, rule):
        return self.ask("/v3/kv/deleterange", key=encoded(PREFIX + rule))

    def get(self, rule):
        kvs = self.ask("/v3/kv/range", key=encoded(PREFIX + rule)).get("kvs")
        return json.loads(base64.b64decode(kvs[0]["value"])) if kvs else None

    def compact(self):
        revision = self.ask("/v3/kv/range", key=encoded("x"))["header"]["revision"]
        self.ask("/v3/kv/compaction", revision=revision, physical=True)

    def backup(self):
        """The data as they are now, of an etcd that is not running."""
        copy = self.data.parent / "backup"
        shutil.copytree(self.data, copy)
        return copy

    def restore(self, copy=None):
        """Back to a backup, or to nothing."""
        shutil.rmtree(self.data)
        if copy:
            shutil.copytree(copy, self.data)

    def config(self, base, endpoint=None, more=""):
        source = "  - etcd: {endpoints: [%s]%s}\n" % (endpoint or self.endpoint, more)
        return base.rstrip() + "\n" + source


class Wire:
    """A way to a port that can be cut."""

    def __init__(self, case, port):
        self.to, self.open, self.sockets, self.lock = port, True, set(), threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        case.addCleanup(self.close)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near = self.listener.accept()[0]
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self.to)) if self.open else None
            except OSError:
                far = None
            if far is None:
                near.close()
                continue
            with self.lock:
                self.sockets |= {near, far}
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=(one, other), daemon=True).start()

    @staticmethod
    def carry(one, other):
        try:
            while True:
                data = one.recv(65536)
                if not data:
                    break
                other.sendall(data)
        except OSError:
            pass
        for end in (one, other):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        one.close()  # The other direction closes the other.

    def cut(self):
        self.open = False
        with self.lock:
            for end in self.sockets:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
            self.sockets.clear()

    def mend(self):
        self.open = True

    def close(self):
        self.listener.close()
        self.cut()

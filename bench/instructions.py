#!/usr/bin/env python3
"""How many instructions each path takes: counted by callgrind, so other load hardly matters.

  SLUICE=build/bench/bin/sluice bench/instructions.py          this build
  bench/instructions.py BEFORE_BIN AFTER_BIN                   two builds and their ratio

BIN is the bin folder of a bench build: it has sluice and decide_load. Every path is driven with two
numbers of requests (or lines); what one more costs is the difference of the counts by that of the numbers.

Of a server the thread that does the most is counted: its loop. A request comes when the loop waits for it: else
it is luck how often a read finds nothing. RUNS=3 counts the servers so often, and the medians are
shown. ONLY=part of a name: only those paths.
"""
import os
import pathlib
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time

FEW, MANY = 300, 1300
PER_SECOND = 250
ALGORITHMS = {
    "fixed_window": "limit: 1000",
    "sliding_window_counter": "limit: 1000",
    "sliding_window": "limit: 1000",
    "sliding_window_log": "limit: 100",
    "token_bucket": "rate: 1000",
    "gcra": "rate: 1000",
    "leaky_bucket": "rate: 1000, burst: 1000",
    "concurrency": "limit: 1000, hold_ttl: 1m",
}
CONFIG = """
listeners:
  - {address: 127.0.0.1:0}
  - {address: 127.0.0.1:0, protocol: resp}
  - {address: 127.0.0.1:0, protocol: grpc}
loops: 1
table: {path: %(folder)s/table, keys: 10000, snapshot_interval: off}
rules:
  - {id: api_rate, key_pattern: "user:{user_id}", algorithm: gcra, rate: 1000000000, window: 1m}
  - {id: by_path, match: {path: "/v1/*"}, key_pattern: "ip:{ip}", algorithm: gcra, rate: 1000000000, window: 1m}
"""
ENVOY = """
domain: bench
descriptors:
  - {key: remote_address, rate_limit: {unit: hour, requests_per_unit: 4000000000}}
  - key: user
    descriptors:
      - {key: path, rate_limit: {unit: minute, requests_per_unit: 4000000000}}
"""


def proto(tag, data):
    """A field of a protobuf message that holds bytes, below 128 of them."""
    return bytes([tag << 3 | 2, len(data)]) + data


def pair(key, value):
    return proto(1, key) + proto(2, value)


def grpc(message):
    return b"\0" + len(message).to_bytes(4, "big") + message


CHECK = b'{"user_id": "u_00042", "endpoint": "/v1/charges", "cost": 1}'
GRPC_CHECK = grpc(proto(1, pair(b"user_id", b"u_00042")) + proto(1, pair(b"endpoint", b"/v1/charges")))
RATE_LIMIT = grpc(proto(1, b"bench") + proto(2, proto(1, pair(b"remote_address", b"192.0.2.7")))
                  + proto(2, proto(1, pair(b"user", b"u_1234567")) + proto(1, pair(b"path", b"/v1/charges"))))


def finish(words, **more):
    done = subprocess.run([str(w) for w in words], capture_output=True, check=False, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr.decode()}")
    return done.stdout.decode()


def callgrind(out, *more):
    return ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *more]


def counted(file):
    return int(re.search(r"^(?:totals|summary): (\d+)", file.read_text(encoding="utf-8"), re.M).group(1))


class Server:
    """A daemon under callgrind, on ports of its own."""

    def __init__(self, sluice, folder):
        self.folder = folder
        (folder / "ratelimit" / "config").mkdir(parents=True)
        (folder / "ratelimit" / "config" / "bench.yaml").write_text(ENVOY, encoding="utf-8")
        (folder / "sluice.yaml").write_text(CONFIG % {"folder": folder}, encoding="utf-8")
        with open(folder / "out", "wb") as out, open(folder / "err", "wb") as err:
            self.process = subprocess.Popen(  # Ended by close().
                callgrind(folder / "cg", "--separate-threads=yes") + [
                    str(sluice), "serve", "--envoy", "--config", str(folder / "sluice.yaml")],
                stdout=out, stderr=err,
                env={**os.environ, "RUNTIME_ROOT": str(folder), "RUNTIME_SUBDIRECTORY": "ratelimit"})
        text = ""
        while "Try" not in text:
            if self.process.poll() is not None:
                sys.exit((folder / "err").read_text(encoding="utf-8"))
            time.sleep(0.1)
            text = (folder / "out").read_text(encoding="utf-8")
        self.ports = {name: re.search(rf"^ *{name} .*:(\d+)$", text, re.M).group(1)
                      for name in ("checks", "resp", "grpc")}

    def dump(self):
        """What each thread did since the last dump; of the busiest."""
        before = set(self.folder.glob("cg.*"))
        finish(["callgrind_control", "--dump", self.process.pid])
        return max(counted(file) for file in set(self.folder.glob("cg.*")) - before)

    def cost(self, drive):
        drive(FEW)  # Warm.
        self.dump()
        drive(FEW)
        few = self.dump()
        drive(MANY)
        return (self.dump() - few) / (MANY - FEW)

    def h2load(self, url, body, *more):
        file = self.folder / "body"
        file.write_bytes(body)

        def drive(count):
            out = finish(["h2load", "-c1", "-m1", "-t1", f"--rps={PER_SECOND}", "-n", count, *(["-d", file] if body else []), *more, url])
            if f" {count} succeeded, 0 failed" not in out:
                sys.exit(out)
        return self.cost(drive)

    def redis(self, *words):
        command = f"*{len(words)}\r\n" + "".join(f"${len(word)}\r\n{word}\r\n" for word in words)

        def drive(count):
            with socket.create_connection(("127.0.0.1", int(self.ports["resp"]))) as connection:
                for _ in range(count):
                    time.sleep(1 / PER_SECOND)
                    connection.sendall(command.encode())
                    answer = connection.recv(65536)  # Small, and written at once: whole.
                    if answer.startswith(b"-"):
                        sys.exit(answer.decode())
        return self.cost(drive)

    def paths(self):
        http = f"http://127.0.0.1:{self.ports['checks']}"
        rpc = f"http://127.0.0.1:{self.ports['grpc']}"
        kind = ["-H", "content-type: application/grpc", "-H", "te: trailers"]
        return {
            "`POST /v1/ratelimit/check`": lambda: self.h2load(
                http + "/v1/ratelimit/check", CHECK, "--h1", "-H", "content-type: application/json"),
            "a proxy's question": lambda: self.h2load(
                http + "/v1/check/http", b"", "--h1", "-H", "x-original-uri: /v1/charges", "-H", "x-original-method: GET"),
            "`CL.THROTTLE`": lambda: self.redis("CL.THROTTLE", "u_00042", "15", "100000000", "60"),
            "`SLUICE.CHECK`": lambda: self.redis("SLUICE.CHECK", "api_rate", "user_id=u_00042"),
            "gRPC `Check`": lambda: self.h2load(rpc + "/sluice.v1.RateLimit/Check", GRPC_CHECK, *kind),
            "`ShouldRateLimit`, two descriptors": lambda: self.h2load(
                rpc + "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit", RATE_LIMIT, *kind),
        }

    def close(self):
        self.process.terminate()
        self.process.wait()


def of_servers(sluice, wanted):
    runs = int(os.environ.get("RUNS", "1"))
    found = {}
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            server = Server(sluice, pathlib.Path(folder))
            try:
                for name, measure in server.paths().items():
                    if wanted in name:
                        found.setdefault(name, []).append(measure())
            finally:
                server.close()
    return {name: statistics.median(all_runs) for name, all_runs in found.items()}


def of_commands(few, many, steps):
    """What a step costs: two commands, of which the second takes `steps` more."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "cg")
        counts = []
        for command in (few, many):
            finish(callgrind(file) + command)
            counts.append(counted(file))
    return (counts[1] - counts[0]) / steps


def rules_of(count):
    """`count` rules, of which one applies."""
    return "".join(f"  - {{id: r{i}, match: {{endpoint: /v1/charges{'' if i == 3 else i}}}, "
                   "key_pattern: 'user:{user_id}', algorithm: gcra, rate: 1000, window: 1m}\n" for i in range(count))


def of_decisions(program, folder, wanted):
    cases = {f"decision in the process, `{algorithm}`": f"  - {{id: r, key_pattern: 'user:{{user_id}}', "
             f"algorithm: {algorithm}, {quota}{'' if algorithm == 'concurrency' else ', window: 1m'}}}\n"
             for algorithm, quota in ALGORITHMS.items()}
    for count in (10, 1000):
        cases[f"the same with `gcra`, {count} rules in force"] = rules_of(count)
    found = {}
    for name, rules in cases.items():
        if wanted in name:
            file = folder / "rules.yaml"
            file.write_text("rules:\n" + rules, encoding="utf-8")
            found[name] = of_commands([program, file, 10000], [program, file, 30000], 20000)
            if "`gcra`" in name:
                found[f"{name}, recorded for operators"] = of_commands(
                    [program, file, 10000, "seen"], [program, file, 30000, "seen"], 20000)
    return found


def of_lines(sluice, folder, wanted):
    make = pathlib.Path(__file__).parent / "make_log.py"
    logs = []
    for lines in (10000, 20000):
        logs.append(folder / f"{lines}.log")
        logs[-1].write_text(finish([make, lines, 1000]), encoding="utf-8")
    found = {}
    for algorithm, quota in (("token_bucket", "rate: 60"), ("sliding_window", "limit: 60, segments: 48")):
        name = f"`sluice replay`, a line, `{algorithm}`"
        file = folder / "replay.yaml"
        file.write_text(f"rules:\n  - {{id: per_ip, key_pattern: 'ip:{{ip}}', algorithm: {algorithm}, {quota}, "
                        "window: 1m}\n", encoding="utf-8")
        if wanted in name:
            found[name] = of_commands(*([sluice, "replay", "--rules", file, log] for log in logs), 10000)
    if wanted in "`sluice suggest`, a line":
        found["`sluice suggest`, a line"] = of_commands(*([sluice, "suggest", log] for log in logs), 10000)
    return found


def main():
    folders = [pathlib.Path(word) for word in sys.argv[1:]]
    if not folders:
        folders = [pathlib.Path(os.environ.get("SLUICE", "build/bench/bin/sluice")).parent]
    wanted = os.environ.get("ONLY", "")
    columns = []
    for bin_folder in folders:
        sluice = bin_folder / "sluice"
        with tempfile.TemporaryDirectory() as folder:
            columns.append({**of_servers(sluice, wanted),
                            **of_decisions(bin_folder / "decide_load", pathlib.Path(folder), wanted),
                            **of_lines(sluice, pathlib.Path(folder), wanted)})
    ratio = len(columns) > 1
    heads = [str(folder) for folder in folders] if ratio else ["instructions"]
    print("| " + " | ".join(["path", *heads] + (["ratio"] if ratio else [])) + " |")
    print("|" + " --- |" * (1 + len(heads) + ratio))
    for name in columns[-1]:
        counts = [column[name] for column in columns]
        cells = [f"{count:,.0f}" for count in counts] + ([f"{counts[-1] / counts[0]:.3f}"] if ratio else [])
        print("| " + " | ".join([name, *cells]) + " |")


if __name__ == "__main__":
    main()

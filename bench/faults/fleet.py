"""Three daemons over one Redis, and the rules by which a fault is judged."""
import http.client
import json
import math
import pathlib
import pickle
import re
import subprocess
import sys

from servers import until

HERE = pathlib.Path(__file__).resolve().parent
NODES = 3
DEADLINE_MS = 10.0
RATE = 660  # Requests a second in all.

# What every node is asked in turn. Windows do not end meanwhile, so nothing refills: what passes
# beyond the limit is a fault's doing. `spent` is used up before any fault begins.
LIMITS = {"open": 400, "shut": 400, "here": 240, "spent": 15}
POLICIES = {"open": "allow", "shut": "deny", "here": "local", "spent": "allow", "far": "allow"}
RULES = "rules:\n" + "".join(
    "  - {id: %s, match: {for: %s}, key_pattern: \"user:{user_id}\", algorithm: fixed_window, "
    "limit: %s, window: 3650d, on_store_error: %s}\n"
    % (kind, kind, LIMITS.get(kind, 1_000_000), policy) for kind, policy in POLICIES.items())


class Node:
    def __init__(self, processes, sluice, folder, store):
        folder.mkdir()
        (folder / "sluice.yaml").write_text(
            "store: {redis: %s}\ntable: {keys: 1000}\nloops: 1\nlisteners:\n"
            "  - {address: \"127.0.0.1:0\"}\n  - {address: \"127.0.0.1:0\", role: admin}\n%s"
            % (json.dumps(store), RULES))
        with open(folder / "log", "w") as log:
            self.process = processes.start([sluice, "serve", "--config", "sluice.yaml"], cwd=folder,
                                           stdout=subprocess.PIPE, stderr=log, text=True)
        greeting = ""
        while "Try:" not in greeting:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError("it did not start: " + (folder / "log").read_text())
            greeting += line
        found = dict(re.findall(r"^  (checks|admin)\s+http://(\S+)", greeting, re.M))
        self.checks, self.admin, self.folder = found["checks"], found["admin"], folder

    def metrics(self):
        connection = http.client.HTTPConnection(self.admin, timeout=20)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        return {name: float(value)
                for name, value in re.findall(r"^(sluice_redis\S*) (\S+)$", text, re.M)}

    def unknown(self):
        """Calls that may have been charged without an answer and did not come back."""
        said = self.metrics()
        calls = 'sluice_redis_calls_total{result="%s"}'
        return int(said[calls % "timed_out"] + said[calls % "lost"]
                   - said["sluice_redis_late_charges_total"])

    def fds(self):
        return len(list(pathlib.Path("/proc/%d/fd" % self.process.pid).iterdir()))

    def rss_kib(self):
        status = pathlib.Path("/proc/%d/status" % self.process.pid).read_text()
        return int(re.search(r"^VmRSS:\s+(\d+)", status, re.M).group(1))


class Fleet:
    def __init__(self, processes, sluice, folder, store):
        self.processes, self.sluice, self.folder = processes, sluice, folder
        self.nodes = [Node(processes, sluice, folder / ("node%d" % i), store) for i in range(NODES)]

    def wait_until_counted(self):
        """Each has counted all three: that is what its share of a quota is by."""
        until(lambda: all(node.metrics().get("sluice_redis_nodes") == NODES for node in self.nodes))

    def keys_of(self, user):
        """What Redis calls the keys of a user, by kind."""
        keys = {}
        for kind in POLICIES:
            run = subprocess.run(
                [self.sluice, "key", "--rules", "sluice.yaml", "for=" + kind, "user_id=" + user],
                cwd=self.nodes[0].folder, capture_output=True, text=True, check=True)
            keys[kind] = run.stdout.split()[1]
        return keys


class LoadRun:
    """Load on all nodes from now until stop()."""

    def __init__(self, processes, fleet, user, far_user=None):
        self.kinds = list(LIMITS) + (["far"] if far_user else [])
        requests = [["POST", "/v1/ratelimit/check", json.dumps(
            {"attributes": {"for": kind, "user_id": far_user if kind == "far" else user}})]
            for kind in self.kinds]
        self.kinds.append("nobody")  # Asks no store: how long the machine itself takes.
        requests.append(["GET", "/healthz", ""])
        plan = {"nodes": [node.checks for node in fleet.nodes], "rate": RATE, "requests": requests}
        self.process = processes.start([sys.executable, str(HERE / "load.py")],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.process.stdin.write(json.dumps(plan).encode() + b"\n")
        self.process.stdin.flush()
        self.process.stdout.readline()

    def stop(self):
        self.process.stdin.close()
        samples = pickle.loads(self.process.stdout.read())
        self.process.wait()
        self.process.stdout.close()
        return [Sample(*sample[:3], self.kinds[sample[3]], *sample[4:]) for sample in samples]


class Sample:
    """One request and its answer."""

    def __init__(self, sent, seconds, node, kind, status, degraded):
        self.sent, self.ms, self.node, self.kind = sent, seconds * 1000, node, kind
        self.status, self.by_policy = status, degraded
        self.answered_at = sent + seconds

    @property
    def failed(self):
        return self.status not in (200, 429) and not (
            self.status == 503 and self.by_policy and self.kind == "shut")

    @property
    def admitted(self):
        return self.status == 200 and not self.by_policy


def quantile(values, part):
    """The value that this part of them does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(part * len(ordered)) - 1)] if ordered else 0.0

"""One fault under load, and what is said of it: a row of the table."""
import time

from fleet import DEADLINE_MS, LIMITS, NODES, LoadRun, quantile
from servers import until

BEFORE, AFTER = 1.0, 3.0  # Seconds of load before a fault and after its end.
SLACK_MS = 2.0
RECOVERY_MS = 1000.0
RSS_KIB = 2048


class Row:
    """One fault under load."""

    def __init__(self, setup, name):
        self.setup, self.name = setup, name
        self.fleet = setup.fleet
        self.user, self.far = setup.user("".join(c if c.isalnum() else "_" for c in name))
        self.keys = self.fleet.keys_of(self.user)
        self.probe = "{%s}:probe" % self.keys["open"].split("}")[0].split("{")[1]
        self.began = self.back = 0.0
        self.lost = lambda samples: {}  # Units that the servers forgot, by kind.
        self.broken = []

    # For faults.

    def begins(self):
        self.began = time.monotonic()

    def returns(self, server):
        """Waits until the server takes a write, and is said to by whoever is asked for that."""
        until(lambda: server.takes_writes(self.probe) and self.setup.names(server), every=0.002)
        self.back = time.monotonic()

    def used(self, server):
        return {kind: server.used(self.keys[kind]) for kind in LIMITS}

    def admitted_before(self, samples, when):
        return {kind: sum(s.admitted and s.kind == kind and s.answered_at < when for s in samples)
                for kind in LIMITS}

    def loses_what(self, survivor_has, when=None):
        """What was admitted until `when`, but for what the survivor has, may be granted again."""
        when = when or time.monotonic()
        self.lost = lambda samples: {
            kind: max(0, count - survivor_has.get(kind, 0))
            for kind, count in self.admitted_before(samples, when).items()}

    # The row itself.

    def run(self, fault):
        self.fleet.wait_until_counted()
        load = LoadRun(self.setup.processes, self.fleet, self.user, self.far)
        unknown = [node.unknown() for node in self.fleet.nodes]
        time.sleep(BEFORE)
        fds = [node.fds() for node in self.fleet.nodes]
        rss = [node.rss_kib() for node in self.fleet.nodes]
        fault(self.setup, self)
        time.sleep(AFTER)
        self.fds = sum(node.fds() for node in self.fleet.nodes) - sum(fds)
        self.rss = max(node.rss_kib() - was for node, was in zip(self.fleet.nodes, rss))
        self.samples = load.stop()
        self.unknown = sum(node.unknown() for node in self.fleet.nodes) - sum(unknown)
        self.eternal = self.count_eternal()
        self.judge()

    def count_eternal(self):
        """Keys of ours that would never go."""
        count = 0
        for server in self.setup.primaries():
            cursor = "0"
            while True:
                cursor, keys = server.run("SCAN", cursor, "MATCH", "sl1:*", "COUNT", 1000)
                count += sum(server.run("PTTL", key) == -1 for key in keys)
                if cursor == "0":
                    break
        return count

    def breaks(self, holds, what):
        if not holds:
            self.broken.append("%s: %s" % (self.name, what))

    def judge(self):
        asked = [s for s in self.samples if s.kind != "nobody"]
        window = [s for s in asked if s.sent >= self.began]
        self.answers = len(window)
        self.errors = sum(s.failed for s in self.samples)
        self.by_policy = sum(s.by_policy for s in window)
        self.ms = [quantile([s.ms for s in window], part) for part in (0.5, 0.99, 0.999, 1)]
        self.nobody_ms = quantile([s.ms for s in self.samples
                                   if s.kind == "nobody" and s.sent >= self.began], 0.999)
        self.breaks(self.errors == 0, "%d requests had no answer that they may have" % self.errors)
        self.breaks(self.ms[2] <= DEADLINE_MS + SLACK_MS,
                    "p99.9 %.1f ms is above the deadline and %g ms" % (self.ms[2], SLACK_MS))
        self.judge_units(asked)
        self.judge_recovery(asked)
        self.breaks(self.fds <= 0, "%d file descriptors more" % self.fds)
        self.breaks(self.rss <= RSS_KIB, "%d KiB more in one daemon" % self.rss)
        self.breaks(self.eternal == 0, "%d keys without an expiry" % self.eternal)

    def judge_units(self, asked):
        lost = self.lost(asked)
        self.units = []
        admitted_in_all = 0
        for kind, limit in LIMITS.items():
            admitted = sum(s.admitted for s in asked if s.kind == kind)
            passed = [sum(s.status == 200 and s.by_policy for s in asked
                          if s.kind == kind and s.node == node) for node in range(NODES)]
            bound = limit + lost.get(kind, 0)
            admitted_in_all += admitted
            self.units.append("%s %d/%d" % (kind, admitted, bound))
            self.breaks(admitted <= bound, "%s admitted %d of %d" % (kind, admitted, bound))
            if kind == "here":
                share = -(-limit // NODES)
                self.units[-1] += " + %d/%d" % (sum(passed), share * NODES)
                self.breaks(max(passed) <= share, "a node let %d pass of its share of %d"
                            % (max(passed), share))
            elif kind == "open":
                self.units[-1] += " + %d" % sum(passed)
            else:
                self.breaks(sum(passed) == 0, "%s let %d pass by policy" % (kind, sum(passed)))
        used = sum(self.used(self.setup.primary).values())
        # Lost writes are in no server; all others belong to an answer, or to a request cut off.
        self.breaks(used <= admitted_in_all + self.unknown, "%d units used, %d admitted, %d unknown"
                    % (used, admitted_in_all, self.unknown))
        if self.unknown == 0 and not sum(lost.values()):
            for kind, limit in LIMITS.items():
                admitted = sum(s.admitted for s in asked if s.kind == kind)
                spent = any(s.status == 429 and not s.by_policy for s in asked if s.kind == kind)
                self.breaks(admitted == limit or not spent, "%s admitted %d and not %d though no "
                            "call was lost" % (kind, admitted, limit))
        far = [s for s in asked if s.kind == "far"]
        failed = sum(s.by_policy for s in far)
        self.breaks(failed * 100 <= len(far), "%d of %d checks of another server were answered "
                    "by policy" % (failed, len(far)))

    def judge_recovery(self, asked):
        self.first_ms = self.last_ms = 0.0
        for node in range(NODES):
            since = [s for s in asked if s.node == node and s.sent >= self.back and s.kind != "far"]
            first = next((s.answered_at for s in sorted(since, key=lambda s: s.answered_at)
                          if not s.by_policy), None)
            if first is None:
                self.breaks(False, "a node did not come back")
                continue
            self.first_ms = max(self.first_ms, (first - self.back) * 1000)
            late = [s.answered_at for s in since if s.by_policy]
            self.last_ms = max([self.last_ms] + [(at - self.back) * 1000 for at in late])
        self.breaks(self.first_ms <= RECOVERY_MS, "%.0f ms until Redis's own answer" % self.first_ms)
        stray = sum(s.by_policy for s in asked if s.sent > self.back + RECOVERY_MS / 1000)
        self.breaks(stray * 200 <= len(asked), "%d answers by policy more than %g ms after its "
                    "return" % (stray, RECOVERY_MS))

    # `no store`: /healthz, asked all the while, which shows what the machine itself takes. `back` is
    # Redis's own return: until the last node's first answer of Redis's, and the last by policy.
    HEAD = ["fault", "answers", "errors", "by policy", "p50", "p99", "p99.9", "longest",
            "no store, p99.9", "admitted / bound", "first since back", "last by policy since back",
            "fds", "KiB", "no TTL"]

    def cells(self):
        return ([self.name, str(self.answers), str(self.errors), str(self.by_policy)]
                + ["%.1f" % ms for ms in self.ms] + ["%.1f" % self.nobody_ms, ", ".join(self.units),
                "%.0f ms" % self.first_ms, "%.0f ms" % self.last_ms if self.last_ms else "",
                "%+d" % self.fds, "%+d" % self.rss, str(self.eternal)])

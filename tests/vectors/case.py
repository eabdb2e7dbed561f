"""A case: one key's history, played to an oracle and written down as the lines of a vector file."""

import json

from oracles import ALGORITHMS, ArrivalTime, Now

START = 1_700_000_000 * 1_000_000_000  # 2023-11-14T22:13:20Z: within a minute, an hour and a day.


class Case:
    def __init__(self, lines, algorithm, name, start=START, clocks=None, **quota):
        self.lines = lines
        self.key = ALGORITHMS[algorithm]()
        self.key.next_number = 0
        self.quota = {name: value for name, value in quota.items() if value is not None}
        self.start, self.at, self.stepped, self.clocks = start, 0, 0, clocks
        self.newest = None  # When the state was written last, by the store's clock.
        self.checks = []  # Of each check: instant, cost, quota, and at what it was settled.
        self.last_reset = None
        self.last = {}
        self.classic = ArrivalTime(self.quota) if algorithm == "gcra" and self.is_plain() and not clocks else None
        header = {"case": name, "start": start}
        if clocks:
            header["clocks"] = clocks
        lines.append({**header, "quota": self.quota})

    def is_plain(self):
        return self.quota.get("rate", 0) > 0 and self.quota["limit"] > 0

    # Time.
    def now(self):
        elapsed = self.start + self.at
        return Now(elapsed + (self.stepped if self.clocks == 1 else 0), elapsed + self.stepped)

    def wait(self, elapsed):
        self.at += elapsed
        return self

    def until(self, at):
        assert at >= self.at
        self.at = at
        return self

    def wait_retry(self, less=0):
        """Until the last denial says that its cost passes."""
        return self.until(self.retry_at - less)

    def wait_reset(self, less=0):
        """Until the last answer says that the key is fresh."""
        return self.until(self.reset_at - less)

    def knock(self, cost=1, grain=1_000):
        """Asks again just too early, and then just in time for it, both on whole multiples of `grain`."""
        due = -(-self.retry_at // grain) * grain
        return self.until(due - grain).check(cost).until(due).check(cost)

    def step(self, by):
        """Steps the wall clock: of a case with one clock that clock, else no other."""
        assert self.clocks
        self.stepped += by
        self.lines.append({"at": self.at, "step": by})
        return self

    # Verbs.
    def check(self, cost=1, times=1, priority=None):
        for _ in range(times):
            self.follow()
            quota = {**self.quota, "priority": priority} if priority else self.quota
            before = self.state()
            decision = self.key.check(quota, self.now(), cost)
            if self.classic and 0 < cost <= quota["limit"]:
                assert self.classic.conforms(self.now(), cost) == decision["allowed"]
                if decision["allowed"]:
                    self.classic.charge(self.now(), cost)
            self.checks.append([self.now(), cost if decision["allowed"] and cost > 0 else None, self.quota, None])
            self.write({"check": cost, **({"priority": priority} if priority else {})}, before, decision)
            self.key.next_number += 1
        return self

    def peek(self, cost=1, priority=None):
        self.follow()
        quota = {**self.quota, "priority": priority} if priority else self.quota
        decision = self.key.peek(quota, self.now(), cost)
        self.write({"peek": cost, **({"priority": priority} if priority else {})}, self.state(), decision)
        return self

    def refund(self, units):
        self.follow()
        before = self.state()
        if not self.key.is_fresh(self.quota, self.now()):
            self.key.refund(self.quota, self.now(), units)
        self.classic = None
        return self.write({"refund": units}, before)

    def reset(self):
        before = self.state()
        self.key.forget()
        self.newest = None
        self.last_reset = self.now().monotonic
        self.classic = None
        return self.write({"reset": True}, before)

    def settle(self, of, units):
        """Says what the charge of the check number `of` cost in the end."""
        self.follow()
        charged_at, charged, quota, settled = self.checks[of]
        assert quota == self.quota, "the numbers by which it was charged are those of now"
        before = self.state()
        until = self.key.counts_until(quota, charged_at)
        if self.last_reset is not None and charged_at.monotonic <= self.last_reset:
            until = self.last_reset
        if self.now().monotonic >= until:
            settled = charged
        elif settled is None:
            settled = self.checks[of][3] = units
            if units < charged and not self.key.is_fresh(quota, self.now()):
                self.key.refund(quota, self.now(), charged - units)
            elif units > charged:
                self.key.charge(quota, self.now(), units - charged)
        self.classic = None
        return self.write({"settle": units, "of": of, "settled": settled}, before)

    def can_settle(self, of):
        """Not where a store may round the end of a charge the other way."""
        charged_at, charged, quota, _ = self.checks[of]
        return (charged is not None and quota == self.quota
                and abs(self.key.counts_until(quota, charged_at) - self.now().monotonic) > 2_000)

    def release(self, of):
        return self.hold_verb("release", of, lambda: self.key.release(self.now(), of))

    def renew(self, of):
        return self.hold_verb("renew", of, lambda: self.key.renew(self.quota, self.now(), of))

    def hold_verb(self, verb, of, act):
        self.follow()
        before = self.state()
        found = act()
        return self.write({verb: of, "found": found}, before)

    def change(self, **numbers):
        """Other numbers from now on; what was used stays."""
        self.quota = {name: value for name, value in {**self.quota, **numbers}.items() if value is not None}
        self.classic = None
        self.lines.append({"at": self.at, "quota": self.quota})
        return self

    # Writing.
    def state(self):
        return self.key.state(self.quota, self.now(), self.start)

    def follow(self):
        """A store with one clock that finds a state written later than now moves it back."""
        if self.clocks == 1 and self.newest is not None and self.now().monotonic < self.newest:
            self.key.shift(self.newest - self.now().monotonic)
            self.newest = self.now().monotonic

    def write(self, verb, before, decision=None):
        line = {"at": self.at, **verb}
        if decision:
            self.last = decision
            self.reset_at = self.at + decision["reset_after"]
            if isinstance(decision.get("retry_after"), int):
                self.retry_at = self.at + decision["retry_after"]
            order = ("allowed", "reason", "remaining", "retry_after", "reset_after", "wait")
            line.update({name: decision[name] for name in order if name in decision})
        after = self.state()
        if after != before:
            line["state"] = after
            self.newest = None if after is None else self.now().monotonic
        self.lines.append(line)
        return self


def text_of(lines):
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)

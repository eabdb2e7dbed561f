"""What every algorithm of Sluice means, as plain code: the oracle that makes the golden vectors.

Each class keeps everything that was admitted and recounts it for each answer, with Python's unbounded integers and
with fractions. Nothing is rounded, cached or solved for. A wait is found by search: the first nanosecond at which
the answer changes. So the code is slow, short, and can be compared with docs/semantics.md and docs/time.md by eye.
It shares nothing with src/core.

Times are nanoseconds. An instant is a Now: `monotonic` measures elapsed time and starts at the wall clock's time;
`wall_clock` is civil time.
"""

from collections import namedtuple
from datetime import date, datetime, timedelta, timezone
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from zoneinfo import ZoneInfo

MAX_UNITS = 999_999_999_999_999
SECOND = 1_000_000_000
DAY = 86_400 * SECOND
LONGEST = 36_500 * DAY  # The longest window and the longest time that a bucket may take to refill.
NEVER = "never"
UNKNOWN = "unknown"


class Now(namedtuple("Now", "monotonic wall_clock")):
    def after(self, elapsed):
        return Now(self.monotonic + elapsed, self.wall_clock + elapsed)


def first(passes, most=4 * LONGEST):
    """The least whole number at which `passes` holds, of those from 0 to `most`; it holds from there on."""
    low, high = 0, most
    assert passes(high)
    while low < high:
        middle = (low + high) // 2
        if passes(middle):
            high = middle
        else:
            low = middle + 1
    return low


class Key:
    """One key under one rule: what all algorithms have in common.

    `quota` is a dict with the fields that a vector's quota has. It may differ from step to step.
    """

    def __init__(self):
        self.forget()

    # What each algorithm says for itself.
    def forget(self):
        """As if the key had never been seen."""
        raise NotImplementedError

    def left(self, quota, now):
        """Units that would be granted; negative if more is used than the limit, as after the limit was lowered."""
        raise NotImplementedError

    def is_fresh(self, quota, now):
        raise NotImplementedError

    def charge(self, quota, now, units):
        raise NotImplementedError

    def refund(self, quota, now, units):
        """Gives units back, the newest first, and never more than were used."""
        raise NotImplementedError

    def shift(self, back):
        """The clock of a store with one clock has stepped back: all times move with it."""
        raise NotImplementedError

    def state(self, quota, now, start):
        """What counts now, with times since `start`; None for a fresh key."""
        raise NotImplementedError

    def counts_until(self, quota, at):
        """From when on a charge that was made at `at` is not given back any more, on the monotonic clock."""
        return at.monotonic + quota["window_ns"]

    def wait_if_allowed(self, quota, now):
        return 0

    def grants(self, quota):
        return quota["limit"]

    # What is the same for all of them.
    def check(self, quota, now, cost):
        decision = self.judge(quota, now, cost)
        if decision["allowed"] and cost > 0 and not quota.get("unlimited"):
            self.charge(quota, now, cost)
            decision.update(self.numbers(quota, now))
        return decision

    def peek(self, quota, now, cost):
        return self.judge(quota, now, cost)

    def numbers(self, quota, now):
        return {"remaining": max(self.left(quota, now), 0),
                "reset_after": first(lambda d: self.is_fresh(quota, now.after(d)))}

    def judge(self, quota, now, cost):
        if quota.get("unlimited"):
            return {"allowed": True, "remaining": None, "reset_after": 0}
        decision = {"allowed": False, **self.numbers(quota, now)}
        if self.grants(quota) == 0:
            decision.update(reason="limit_zero", retry_after=NEVER)
        elif cost > quota["limit"]:
            decision.update(reason="cost_exceeds_capacity", retry_after=NEVER)
        elif cost > 0 and cost > self.left(quota, now):
            decision.update(reason="quota_exceeded",
                            retry_after=first(lambda d: self.left(quota, now.after(d)) >= cost))
        else:
            decision["allowed"] = True
            wait = self.wait_if_allowed(quota, now)
            if wait > 0:
                decision["wait"] = wait
        return decision


Admission = namedtuple("Admission", "at units")


class Log(Key):
    """sliding_window_log: what was admitted in (now - W, now] counts, and nothing else does."""

    def forget(self):
        self.log = []
        self.origin = None  # Where windows and segments begin, of the algorithms that have any.

    def counts(self, quota, now, admission):
        return admission.at > now.monotonic - quota["window_ns"]

    def live(self, quota, now):
        return [a for a in self.log if self.counts(quota, now, a)]

    def left(self, quota, now):
        return quota["limit"] - sum(a.units for a in self.live(quota, now))

    def is_fresh(self, quota, now):
        return not self.live(quota, now)

    def charge(self, quota, now, units):
        self.log = self.live(quota, now)
        if not self.log:  # A fresh key takes its alignment from the wall clock, once.
            self.origin = now.monotonic - now.wall_clock % quota["window_ns"]
        if self.log and self.log[-1].at == now.monotonic:
            units += self.log.pop().units
        self.log.append(Admission(now.monotonic, units))

    def refund(self, quota, now, units):
        self.log = self.live(quota, now)
        while units > 0 and self.log:
            newest = self.log.pop()
            if newest.units > units:
                self.log.append(Admission(newest.at, newest.units - units))
            units -= newest.units

    def shift(self, back):
        self.log = [Admission(a.at - back, a.units) for a in self.log]
        if self.origin is not None:
            self.origin -= back

    def state(self, quota, now, start):
        live = self.live(quota, now)
        return {"entries": [[a.at - start, a.units] for a in live]} if live else None


class Segments(Log):
    """sliding_window: the units of the window's segments count, the oldest by the part that is still covered."""

    def cuts(self, quota):
        return quota["segments"]

    def segment(self, quota, at):
        """In which segment an instant lies, as a fraction: 2.25 is a quarter into segment 2."""
        return Fraction((at - self.origin) * self.cuts(quota), quota["window_ns"])

    def age(self, quota, now, admission):
        return floor(self.segment(quota, now.monotonic)) - floor(self.segment(quota, admission.at))

    def counts(self, quota, now, admission):
        return self.age(quota, now, admission) <= self.cuts(quota)

    def left(self, quota, now):
        oldest = newer = 0
        for admission in self.live(quota, now):
            if self.age(quota, now, admission) == self.cuts(quota):
                oldest += admission.units
            else:
                newer += admission.units
        covered = 1
        if self.log and not quota.get("strict"):
            covered = 1 - self.segment(quota, now.monotonic) % 1
        return quota["limit"] - floor(oldest * covered) - newer

    def by_segment(self, quota, now):
        units = {}
        for admission in self.live(quota, now):
            number = floor(self.segment(quota, admission.at))
            units[number] = units.get(number, 0) + admission.units
        return units

    def state(self, quota, now, start):
        segments = sorted(self.by_segment(quota, now).items())
        return {"origin": self.origin - start, "segments": [list(pair) for pair in segments]} if segments else None


class Counter(Segments):
    """sliding_window_counter: the same with one segment, which is the window."""

    def cuts(self, quota):
        return 1

    def state(self, quota, now, start):
        counts = self.by_segment(quota, now)
        if not counts:
            return None
        current = floor(self.segment(quota, now.monotonic))
        return {"previous": counts.get(current - 1, 0), "current": counts.get(current, 0),
                "begins": self.origin + current * quota["window_ns"] - start}


class FixedWindow(Key):
    """fixed_window: units used until the window ends, by the wall clock or by what has elapsed."""

    def forget(self):
        self.units, self.ends, self.ends_on_wall_clock = 0, 0, 0

    def used(self, now):
        return self.units if now.monotonic < self.ends and now.wall_clock < self.ends_on_wall_clock else 0

    def left(self, quota, now):
        return quota["limit"] - self.used(now)

    def is_fresh(self, quota, now):
        return self.used(now) == 0

    def charge(self, quota, now, units):
        if self.used(now) == 0:
            self.ends_on_wall_clock = end_of_window(quota, now.wall_clock)
            self.ends = now.monotonic + self.ends_on_wall_clock - now.wall_clock
            self.units = 0
        self.units += units

    def refund(self, quota, now, units):
        self.units = max(self.used(now) - units, 0)

    def shift(self, back):
        self.ends -= back

    def state(self, quota, now, start):
        return {"used": self.units, "ends": self.ends - start} if self.used(now) > 0 else None

    def counts_until(self, quota, at):
        return at.monotonic + end_of_window(quota, at.wall_clock) - at.wall_clock


class Tally(FixedWindow):
    """envoyproxy/ratelimit's window: every hit is counted, also one that is denied."""

    def check(self, quota, now, cost):
        decision = self.judge(quota, now, cost)
        if self.used(now) + cost <= MAX_UNITS and cost > 0:
            self.charge(quota, now, cost)
        if decision["allowed"]:
            decision["remaining"] -= cost
        return decision

    def judge(self, quota, now, cost):
        until_end = end_of_window(quota, now.wall_clock) - now.wall_clock
        if self.used(now) > 0:
            until_end = min(self.ends - now.monotonic, self.ends_on_wall_clock - now.wall_clock)
        decision = {"allowed": self.used(now) + cost <= quota["limit"], "remaining": max(self.left(quota, now), 0),
                    "reset_after": until_end}
        if not decision["allowed"]:
            decision.update(reason="quota_exceeded", retry_after=until_end)
        return decision


class Bucket(Key):
    """token_bucket, gcra, leaky_bucket: units owed, which drain at the rate. `owed` is in units, a fraction."""

    def forget(self):
        self.debt, self.touched, self.expires = Fraction(0), 0, 0

    def owed(self, quota, now):
        if now.monotonic >= self.expires:
            return Fraction(0)
        drained = Fraction(quota["rate"] * (now.monotonic - self.touched), quota["window_ns"])
        return max(self.debt - drained, Fraction(0))

    def grants(self, quota):
        return min(quota["limit"], quota["rate"])

    def left(self, quota, now):
        return 0 if quota["rate"] == 0 else floor(quota["limit"] - self.owed(quota, now))

    def is_fresh(self, quota, now):
        return self.owed(quota, now) == 0

    def set_debt(self, quota, now, debt):
        self.debt, self.touched = debt, now.monotonic
        self.expires = now.monotonic + self.drain_time(quota, debt)

    def drain_time(self, quota, debt):
        return first(lambda d: Fraction(quota["rate"] * d, quota["window_ns"]) >= debt)

    def charge(self, quota, now, units):
        self.set_debt(quota, now, self.owed(quota, now) + units)

    def refund(self, quota, now, units):
        debt = max(self.owed(quota, now) - units, Fraction(0))
        if debt == 0:
            self.forget()
        else:
            self.set_debt(quota, now, debt)

    def wait_if_allowed(self, quota, now):
        """A request goes when what is ahead of it in the queue has drained."""
        if not quota.get("shape"):
            return 0
        return first(lambda d: self.owed(quota, now.after(d)) == 0)

    def shift(self, back):
        self.touched -= back
        self.expires -= back

    def state(self, quota, now, start):
        owed = self.owed(quota, now)
        if owed == 0:
            return None
        rest = owed % 1 * quota["window_ns"]
        assert rest.denominator == 1
        return {"owed": [floor(owed), int(rest)], "expires": self.expires - start}

    def counts_until(self, quota, at):
        return at.monotonic + Fraction(quota["limit"] * quota["window_ns"], quota["rate"])


class Throttle(Bucket):
    """CL.THROTTLE: a bucket whose window may change too. The debt stays the same number of units, rounded up to
    parts of the window that it is seen under; it is forgotten at a whole second, or never if that is after 2106."""

    FOREVER = (1 << 63) - 1

    def owed(self, quota, now):
        if now.monotonic >= self.expires:
            return Fraction(0)
        window = quota["window_ns"]
        debt = Fraction(ceil(self.debt * window), window)
        return max(debt - Fraction(quota["rate"] * (now.monotonic - self.touched), window), Fraction(0))

    def set_debt(self, quota, now, debt):
        super().set_debt(quota, now, debt)
        second = -(-self.expires // SECOND)
        self.expires = second * SECOND if second < (1 << 32) - 1 else self.FOREVER


class ArrivalTime:
    """The classic form of GCRA, by ITU-T I.371: a theoretical arrival time, and no debt. It knows one quota, and
    judges no more than whether a cost conforms; what gcra answers otherwise follows from that. The generator holds
    Bucket to it."""

    def __init__(self, quota):
        self.interval = Fraction(quota["window_ns"], quota["rate"])
        self.tolerance = quota["limit"] * self.interval
        self.arrival = Fraction(0)

    def conforms(self, now, cost):
        return max(self.arrival, now.monotonic) + cost * self.interval - now.monotonic <= self.tolerance

    def charge(self, now, cost):
        self.arrival = max(self.arrival, Fraction(now.monotonic)) + cost * self.interval


Hold = namedtuple("Hold", "number expires units priority")


class Concurrency(Key):
    """concurrency: units held. A hold ends when it is released, or `window_ns` after it was granted or renewed."""

    def forget(self):
        self.holds = []

    def live(self, now):
        return [hold for hold in self.holds if hold.expires > now.monotonic]

    def kept_for_others(self, quota, now):
        kept = 0
        for priority, percent in quota.get("reserve", {}).items():
            if priority != quota.get("priority"):
                share = quota["limit"] * percent // 100
                in_use = sum(hold.units for hold in self.live(now) if hold.priority == priority)
                kept += max(share - in_use, 0)
        return kept

    def free(self, quota, now):
        return quota["limit"] - sum(hold.units for hold in self.live(now))

    def left(self, quota, now):
        return self.free(quota, now) - self.kept_for_others(quota, now)

    def is_fresh(self, quota, now):
        return not self.live(now)

    def judge(self, quota, now, cost):
        if quota.get("unlimited"):
            return super().judge(quota, now, cost)
        decision = {"allowed": False, **self.numbers(quota, now)}
        never_mine = sum(quota["limit"] * percent // 100 for priority, percent in quota.get("reserve", {}).items()
                         if priority != quota.get("priority"))
        if quota["limit"] == 0:
            decision.update(reason="limit_zero", retry_after=NEVER)
        elif cost > quota["limit"]:
            decision.update(reason="cost_exceeds_capacity", retry_after=NEVER)
        elif cost > quota["limit"] - never_mine:
            decision.update(reason="reserved", retry_after=NEVER)
        elif cost > max(self.left(quota, now), 0):
            taken = cost > self.free(quota, now)
            decision.update(reason="in_flight" if taken else "reserved", retry_after=UNKNOWN)
        else:
            decision["allowed"] = True
        return decision

    def charge(self, quota, now, units):
        self.holds = self.live(now)
        self.holds.append(Hold(self.next_number, now.monotonic + quota["window_ns"], units, quota.get("priority")))

    def release(self, now, number):
        found = any(hold.number == number for hold in self.live(now))
        self.holds = [hold for hold in self.live(now) if hold.number != number]
        return found

    def renew(self, quota, now, number):
        found = any(hold.number == number for hold in self.live(now))
        self.holds = [hold._replace(expires=now.monotonic + quota["window_ns"]) if hold.number == number else hold
                      for hold in self.live(now)]
        return found

    def shift(self, back):
        self.holds = [hold._replace(expires=hold.expires - back) for hold in self.holds]

    def state(self, quota, now, start):
        holds = sorted([hold.expires - start, hold.units] for hold in self.live(now))
        return {"holds": holds} if holds else None


def end_of_window(quota, wall_clock):
    """When the window that holds this instant ends: the next multiple of its length, or the calendar's."""
    if "calendar" not in quota:
        return (wall_clock // quota["window_ns"] + 1) * quota["window_ns"]
    calendar = quota["calendar"]
    begins = [first_second(calendar["zone"], day) for day in
              period_days(calendar["unit"], calendar.get("anchor"), wall_clock // DAY)]
    return min(begin for begin in begins if begin > wall_clock)


WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


def period_days(unit, anchor, day_number):
    """Civil days near a day on which periods begin, in order."""
    near = [date(1970, 1, 1) + timedelta(days=day_number + d) for d in range(-800, 801)]
    if unit == "day":
        return near[797:804]
    if unit == "week":
        return [day for day in near[790:811] if WEEKDAYS[day.weekday()] == (anchor or "Monday")]
    anchor = int(anchor or 1)
    months = [day for day in near if day.day == 1 and (unit == "month" or day.month == 1)]
    return [min(month + timedelta(days=anchor - 1), last_day(month)) for month in months]


def last_day(month):
    return (month + timedelta(days=31)).replace(day=1) - timedelta(days=1)


@lru_cache(maxsize=None)
def first_second(zone, day):
    """The first instant, on a quarter of an hour, at which the zone's calendar shows this day or a later one."""
    instant = datetime(day.year, day.month, day.day, tzinfo=timezone.utc) - timedelta(hours=30)
    while instant.astimezone(ZoneInfo(zone)).date() < day:
        instant += timedelta(minutes=15)
    return int(instant.timestamp()) * SECOND


ALGORITHMS = {
    "fixed_window": FixedWindow,
    "sliding_window_log": Log,
    "sliding_window_counter": Counter,
    "sliding_window": Segments,
    "token_bucket": Bucket,
    "gcra": Bucket,
    "leaky_bucket": Bucket,
    "concurrency": Concurrency,
    "throttle": Throttle,
    "tally": Tally,
}

"""The histories of which the vector files consist: edges written by hand, then walks drawn from a seed."""

from datetime import datetime, timezone

from case import START, Case
from oracles import DAY, LONGEST, MAX_UNITS, SECOND

MS = 1_000_000
MINUTE = 60 * SECOND
HOUR = 3_600 * SECOND
YEAR = 365 * DAY
WINDOWS = ("fixed_window", "sliding_window_log", "sliding_window_counter", "sliding_window")
BUCKETS = ("token_bucket", "gcra", "leaky_bucket", "throttle")


class Draw:
    """SplitMix64: the same numbers under every version of Python."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    def between(self, low, high):
        return low + self.next() % (high - low + 1)

    def one_of(self, values):
        return values[self.next() % len(values)]

    def percent(self, chance):
        return self.next() % 100 < chance


class File:
    """The lines of one algorithm's file."""

    def __init__(self, algorithm):
        self.algorithm = algorithm
        self.lines = []

    def case(self, name, limit, window, start=START, clocks=None, **quota):
        if self.algorithm in BUCKETS:
            quota.setdefault("rate", limit)
        if self.algorithm == "sliding_window":
            quota.setdefault("segments", 8)
        return Case(self.lines, self.algorithm, name, start, clocks, limit=limit, window_ns=window, **quota)


def utc(*fields):
    return int(datetime(*fields, tzinfo=timezone.utc).timestamp()) * SECOND


# Edges of all algorithms that count units over time.
def common_edges(f):
    f.case("exactly at the limit", 3, 10 * SECOND).check(times=2).check().check().peek().peek(0).check(0) \
        .knock(grain=1)
    f.case("the whole limit at once, and more than that", 7, MINUTE).peek(7).peek(8).check(8).check(7).check(8) \
        .check(7).knock(7)
    f.case("limit 0", 0, SECOND, rate=1 if f.algorithm in BUCKETS else None).check().check(0).peek()
    f.case("the limit changes", 10, HOUR).check(10).check().change(limit=20).check(10).check().change(limit=5) \
        .peek().check(0).check().change(limit=0).check().change(limit=20).wait(HOUR // 10).check().wait(HOUR * 3) \
        .check(20)
    f.case("the whole quota again", 5, 2 * SECOND).check(5).wait_reset(1).peek(5).wait(1).peek(5).check(5)
    f.case("a refund beyond use", 5, MINUTE).check(4).refund(1).peek().refund(99).check(5).refund(3).check(3).check()
    f.case("a refund after the end", 5, SECOND).check(5).wait(3 * SECOND).refund(2).check(5).check()
    f.case("a reset", 4, HOUR).check(4).check().reset().check(4).reset().reset()
    f.case("idle for years", 6, MINUTE).check(6).wait(30 * YEAR).check(6).check().wait(40 * YEAR).peek(6)
    f.case("a denial changes nothing", 2, 8 * SECOND).check(2).wait(SECOND).check().wait(SECOND).check().check(2) \
        .peek()
    # Half of it where units count for two windows: no wait of the vectors is longer than the longest window.
    longest = LONGEST // 2 if f.algorithm in ("sliding_window", "sliding_window_counter") else LONGEST
    f.case("the largest limit and window", MAX_UNITS, longest).check(MAX_UNITS - 1).check(2).check().check() \
        .wait(longest // 2).peek().check(1)
    shortest = SECOND if f.algorithm in ("throttle", "tally") else MS
    f.case("the largest limit, the shortest window", MAX_UNITS, shortest).check(MAX_UNITS).check().knock(grain=1) \
        .wait(2 * shortest).check(MAX_UNITS)
    f.case("the year 2105", 3, 100 * DAY, start=utc(2105, 12, 31)).check(3).check().knock()
    f.case("a limit that is lowered and raised", 8, 4 * SECOND).check(8).change(limit=3).wait(SECOND).check() \
        .wait(2 * SECOND).check().change(limit=9).check(2).change(limit=8).check().wait(SECOND * 3 // 2).check(3)


def unlimited(f):
    f.case("no limit", 1, SECOND, unlimited=True).check(5).peek(MAX_UNITS).check(0)


def settlements(f):
    f.case("it cost less", 6, MINUTE).check(5).check(2).settle(0, 1).check(5).check().settle(0, 5).settle(2, 0).peek()
    f.case("it cost more", 6, MINUTE).check(4).settle(0, 9).peek().check().knock()
    f.case("it cost more than anything", 3, SECOND).check().wait(SECOND // 4).settle(0, 30).check().wait(SECOND) \
        .check()
    f.case("the charge does not count any more", 6, MINUTE).check(6).wait(2 * MINUTE).check(3).settle(0, 0).peek()
    f.case("a reset between", 6, MINUTE).check(6).wait(SECOND).reset().check(4).wait(SECOND).settle(0, 0).check(2) \
        .settle(1, 1).peek()


def clock_steps_back(f):
    f.case("one clock steps back", 4, 10 * SECOND, clocks=1).wait(20 * SECOND).check(3).wait(SECOND).step(-HOUR) \
        .peek().check(2).check().wait(3 * SECOND).step(-2 * SECOND).check().knock()
    f.case("one clock steps back, and forward again", 2, MINUTE, clocks=1).wait(HOUR).check(2).step(-DAY).check() \
        .step(DAY).check().check().wait(3 * MINUTE).check(2)


def clock_steps_back_with_holds(f):
    f.case("one clock steps back", 3, 10 * SECOND, clocks=1).check(2).wait(SECOND).check().step(-HOUR).peek() \
        .wait(9 * SECOND - 1_000).peek(2).wait(1_000).check(2).wait(SECOND).check()


def two_clocks(f):
    f.case("the wall clock is set forward", 4, MINUTE, clocks=2).check(3).step(MINUTE).check(2).peek() \
        .wait(MINUTE * 3).check(4).check()
    f.case("the wall clock is set back", 4, MINUTE, clocks=2).check(3).step(-HOUR).check().check().wait(39 * SECOND) \
        .check().wait(SECOND).check(4).wait(3 * MINUTE).check(2).peek()


def fixed_window(f):
    f.case("the last nanosecond of a window", 2, MINUTE).wait(40 * SECOND - 1).check(2).check().wait(1).check(2) \
        .check().wait(MINUTE - 1).check().wait(1).check()
    f.case("before 10 microseconds are over", 1, MS).wait(MS - 10_000).check().wait(9_999).check().wait(1).check()
    f.case("twelve one by one", 12, MINUTE).check().wait(SECOND).check().wait(SECOND).check(times=4).wait(SECOND) \
        .check(times=6).check().wait_reset(1_000).check().wait(1_000).check(times=2)
    f.case("a window that starts with a denial", 2, 10 * SECOND).check(3).wait(5 * SECOND).check().wait(4 * SECOND) \
        .check().check().wait(SECOND).check()

    def calendar(name, start, limit, **fields):
        return f.case(name, limit, None, start=start, calendar=fields)

    def edge(case):
        return case.check(2).check(2).wait_reset(1_000).check().wait(1_000).check(3).wait_reset().peek(3)

    berlin = "Europe/Berlin"
    edge(calendar("a day of 23 hours", utc(2024, 3, 30, 23), 3, unit="day", zone=berlin))
    edge(calendar("a day of 25 hours", utc(2024, 10, 26, 22), 3, unit="day", zone=berlin))
    edge(calendar("a day in UTC", utc(2024, 3, 31, 12), 3, unit="day", zone="UTC"))
    edge(calendar("a day in Kathmandu", utc(2024, 5, 1, 18), 3, unit="day", zone="Asia/Kathmandu"))
    edge(calendar("midnight is skipped", utc(2018, 11, 3, 20), 3, unit="day", zone="America/Sao_Paulo"))
    edge(calendar("an hour comes again before midnight", utc(2018, 2, 17, 12), 3, unit="day", zone="America/Sao_Paulo"))
    edge(calendar("midnight comes twice", utc(2023, 11, 4, 12), 3, unit="day", zone="America/Havana"))
    edge(calendar("a day that does not exist", utc(2011, 12, 29, 20), 3, unit="day", zone="Pacific/Apia"))
    edge(calendar("a week", utc(2024, 3, 29, 9), 3, unit="week", zone=berlin))
    edge(calendar("a week from Sunday", utc(2024, 3, 29, 9), 3, unit="week", zone="America/New_York", anchor="Sunday"))
    edge(calendar("a month", utc(2024, 2, 29, 23), 3, unit="month", zone="UTC"))
    edge(calendar("a month from the 31st, before a leap day", utc(2024, 1, 31, 5), 3, unit="month", zone=berlin,
                  anchor="31"))
    edge(calendar("a month from the 31st, in February", utc(2023, 2, 28, 5), 3, unit="month", zone=berlin, anchor="31"))
    edge(calendar("a month from the 15th", utc(2023, 12, 20), 3, unit="month", zone="Asia/Tokyo", anchor="15"))
    edge(calendar("a year", utc(2023, 12, 31, 22), 3, unit="year", zone=berlin))
    edge(calendar("a year from the 6th", utc(2024, 1, 5, 9), 3, unit="year", zone="UTC", anchor="6"))
    f.case("civil time is set back over midnight", 2, None, start=utc(2024, 6, 1, 21, 30), clocks=2,
           calendar={"unit": "day", "zone": berlin}).check(2).wait(40 * MINUTE).check(2).step(-HOUR).check() \
        .wait(23 * HOUR).check()
    two_clocks(f)


def sliding_window_log(f):
    f.case("two requests of one instant", 5, SECOND).check().check(2).wait(1).check(2).check().wait(SECOND - 2) \
        .check().wait(1).check(3).check().wait(1).check(2)
    trace = f.case("five a minute", 5, MINUTE, start=utc(2023, 11, 14, 13, 4, 55)).check().wait(15 * SECOND).check() \
        .wait(20 * SECOND).check().wait(10 * SECOND).check()
    trace.wait(5 * SECOND).check().check().knock()
    f.case("a wait for several to leave", 6, 10 * SECOND).check(2).wait(SECOND).check(1).wait(SECOND).check(3) \
        .check(3).check(4).check(6).knock(6, grain=1)
    f.case("a refund takes the newest", 6, 10 * SECOND).check(3).wait(5 * SECOND).check(3).refund(2).check(3) \
        .wait(5 * SECOND).check(3).refund(4).peek()
    many = f.case("forty entries", 40, SECOND)
    for _ in range(20):
        many.check(2).wait(20 * MS)
    many.check().knock(3).refund(7).peek(40)


def sliding_window_counter(f):
    f.case("80 before, 20 now, 30 % in", 100, 10 * SECOND).wait(5 * SECOND).check(80).wait(5 * SECOND).check(20) \
        .wait(3 * SECOND).peek(24).peek(25).check(24).check()
    f.case("80 before, 30 now, 70 % in", 100, 10 * SECOND).wait(5 * SECOND).check(80).wait(10 * SECOND).check(30) \
        .wait(2 * SECOND).peek(46).check(47).check(46).check()
    f.case("a gap of more than one window", 10, 10 * SECOND).check(10).wait(10 * SECOND).peek(10) \
        .wait(10 * SECOND - 1).peek(10).wait(1).check(10).wait(30 * SECOND).check(10)
    f.case("the wait ends in the next window", 10, 10 * SECOND).check(9).wait(2 * SECOND).check(5).knock(5).check() \
        .knock()
    f.case("one unit comes back at a time", 3, SECOND).check(3).wait(SECOND).check().knock(grain=1).check() \
        .knock(grain=1).check().knock(grain=1)
    f.case("a refund takes the current window first", 10, 10 * SECOND).check(6).wait(10 * SECOND).check(4).refund(5) \
        .peek().wait(5 * SECOND).check(7).check(8).refund(20).peek()
    two_clocks(f)


def sliding_window(f):
    f.case("one segment", 10, 10 * SECOND, segments=1).check(8).wait(10 * SECOND).check(2).wait(3 * SECOND).check(4) \
        .check().knock(grain=1)
    f.case("segments of a third of a nanosecond's multiple", 9, SECOND, segments=3).check(9).wait(SECOND).check() \
        .knock(grain=1).check().wait_reset(1).peek(9).wait(1).check(9)
    f.case("seven segments", 14, SECOND, segments=7).check(2).wait(142_857_142).check(2).wait(1).check(2) \
        .wait(300 * MS).check(8).check().knock(grain=1).wait(SECOND).peek(14)
    f.case("sixty-four segments", 20, MINUTE, segments=64).check(9).wait(937_500_000).check(9).check(3).knock(3)
    f.case("forty-eight segments", 5, HOUR, segments=48).check(2).wait(75 * SECOND - 1).check(2).wait(1).check(1) \
        .check().knock().wait_reset(1).peek(5).wait(1).peek(5)
    f.case("strict", 6, 8 * SECOND, strict=True).check(3).wait(SECOND).check(3).check().wait_retry(1).check() \
        .wait(1).check(3).check().wait_reset(1).peek(6).wait(1).peek(6)
    f.case("strict with one segment", 4, SECOND, segments=1, strict=True).check(4).wait(SECOND).check() \
        .wait_retry(1).check().wait(1).check(4)
    f.case("a refund takes the newest segment", 8, 8 * SECOND).check(4).wait(3 * SECOND).check(4).refund(3).check(3) \
        .refund(5).wait(5 * SECOND).check(5).peek()
    f.case("the alignment stays while units count", 3, 8 * SECOND, segments=2).check().wait(7 * SECOND).check() \
        .wait(9 * SECOND).check().wait(20 * SECOND).check(3)
    two_clocks(f)


def buckets(f):
    f.case("capacity 10, two a second", 10, SECOND, rate=2).check().wait(200 * MS).check().wait(100 * MS) \
        .check(times=9).wait(2_500 * MS).check().wait(3 * SECOND).check()
    f.case("capacity 100, fifty a second", 100, SECOND, rate=50).check(100).check(30).check().knock() \
        .wait(2 * SECOND).peek(100)
    f.case("three a second, asked often", 1, SECOND, rate=3).check().wait(333_333_333).check().wait(1).check() \
        .wait(333_333_333).check().wait(1).check()
    f.case("seven a minute", 3, MINUTE, rate=7).check(3).check().knock(grain=1).check().wait_reset(1).peek(3) \
        .wait(1).peek(3)
    f.case("burst 1", 1, MINUTE, rate=60).check().check().wait(SECOND - 1).check().wait(1).check().wait(SECOND) \
        .check()
    f.case("the smallest refill", 1, LONGEST, rate=1).check().check().wait(LONGEST - 1).check().wait(1).check()
    f.case("the largest rate", 10, MS, rate=MAX_UNITS).check(10).check().wait(1).check(10)


def changing_rates(f):
    f.case("the rate changes", 10, SECOND, rate=10).check(10).change(rate=2).check().knock().change(rate=100) \
        .check().knock()
    f.case("rate 0", 5, SECOND, rate=5).check(4).change(rate=0).check().check(0).wait_reset(1_000).peek() \
        .wait(1_000).peek().change(rate=5).check(5)
    f.case("full from the expiry on, whatever the rate", 10, SECOND, rate=10).check(10).change(rate=1).check() \
        .wait(999_999 * 1_000).peek(10).wait(1_000).check(10)
    f.case("a burst below the debt", 10, SECOND, rate=1).check(10).change(limit=4).check().knock().change(limit=12) \
        .check(2).check(6)
    f.case("a refund under another rate", 8, SECOND, rate=4).check(8).change(rate=1).refund(3).check(3) \
        .wait(4 * SECOND).refund(2).check(8).check()


def leaky_bucket(f):
    f.case("a queue", 4, SECOND, rate=10, shape=True).check(times=5).wait(100 * MS).check().peek().check(0) \
        .wait(250 * MS).check(2).wait_reset(1).check(4).wait(2 * SECOND).check(4)
    f.case("twenty wait their turn", 20, SECOND, rate=10, shape=True).check(18).check().check().check().knock()
    f.case("thirds of a second", 3, SECOND, rate=3, shape=True).check().check().check().check().wait(333_333_333) \
        .check().wait(1).check().peek()
    f.case("a queue of one", 1, SECOND, rate=2, shape=True).check().check().knock()
    f.case("a refund shortens the queue", 5, SECOND, rate=5, shape=True).check(4).check().refund(2).check().peek(2)
    f.case("a queue whose rate changes", 6, SECOND, rate=6, shape=True).check(3).change(rate=2).check() \
        .change(rate=60).check().peek(2)


def throttle(f):
    f.case("five at once, one a second", 5, SECOND, rate=1).check(6).check(times=5).check().wait(3 * SECOND).check() \
        .wait(100 * MS).check().wait(900 * MS).check().check(5).peek(0)
    f.case("a longer window", 10, MINUTE, rate=10).check(6).change(window_ns=2 * MINUTE).peek(4).check(5).check(4) \
        .check().knock()
    f.case("a shorter window that divides nothing", 10, 60 * SECOND, rate=7).check(9).wait(1) \
        .change(window_ns=7 * SECOND).peek(2).check(2).wait(1).change(window_ns=11 * SECOND).check().knock(grain=1)
    f.case("back and forth", 5, 60 * SECOND, rate=5).check(5).change(window_ns=61 * SECOND).check() \
        .change(window_ns=60 * SECOND).check().wait(12 * SECOND - 1).check().wait(1).check()
    f.case("all numbers change", 6, 60 * SECOND, rate=30).check(6).change(limit=20, rate=20, window_ns=HOUR) \
        .check(14).check().knock()


def tally(f):
    f.case("denials count", 5, MINUTE).check(3).check(4).check().peek().peek(0).check(0).wait(40 * SECOND).check(5)
    f.case("limit 0, denials counted", 0, SECOND).peek().check(0).check().check(0).peek(0)
    f.case("far above the limit", 3, HOUR).check(MAX_UNITS - 1).check(5).check().check().peek().wait(HOUR).check(3)
    f.case("the window's edge", 2, 10 * SECOND).peek().check(2).check().wait_reset(1).check().wait(1).check(2).check()
    f.case("the limit changes, denials counted", 4, MINUTE).check(4).change(limit=6).check(2).check() \
        .change(limit=9).check().check(2).change(limit=2).peek().check()
    f.case("hits are taken back", 4, MINUTE).check(6).refund(3).check().refund(99).check(4).check().reset().check(4)
    f.case("idle for years, denials counted", 2, HOUR).check(3).wait(50 * YEAR).check(2).check()
    two_clocks(f)


def concurrency(f):
    f.case("at most so many at once", 3, MINUTE).check(2).check().check().peek(0).release(0).check(2).release(0) \
        .check().release(1).check()
    f.case("a hold expires", 2, 10 * SECOND).check().wait(SECOND).check().check().wait(9 * SECOND - 1).check() \
        .wait(1).check().release(0).wait(SECOND).check().wait(10 * SECOND).peek(2)
    f.case("a hold is renewed", 2, 10 * SECOND).check().check().wait(9 * SECOND).renew(0).wait(SECOND).check() \
        .check().renew(1).wait(9 * SECOND - 1).peek(1).wait(1).check(1).renew(0)
    f.case("the last hold is released first", 4, 10 * SECOND).check().wait(5 * SECOND).check(2).peek().release(1) \
        .peek().wait_reset(1_000).peek(4).wait(1_000).peek(4)
    f.case("a renewal that shortens", 4, 10 * SECOND).check().change(window_ns=2 * SECOND).peek().renew(0).peek() \
        .wait_reset(1_000).peek(4).wait(1_000).peek(4)
    f.case("cost 0, the whole limit, more than that", 5, SECOND).check(0).check(5).check(0).check().check(6).peek(6) \
        .release(1).peek(5)
    f.case("limit 0", 0, SECOND).check().check(0).peek()
    f.case("the limit changes", 4, MINUTE).check(4).change(limit=6).check(2).change(limit=3).peek().check() \
        .release(0).check().check(2).check(4)
    f.case("a reset", 3, MINUTE).check(2).check().check().reset().check(3).release(0).release(3).check()
    f.case("idle for years", 2, HOUR).check(2).wait(30 * YEAR).check(2).check()
    f.case("the longest hold", MAX_UNITS, LONGEST).check(MAX_UNITS - 1).check(2).check().check().wait(LONGEST - 1) \
        .check().wait(1).check(2)
    shares = f.case("a share for one priority", 10, MINUTE, reserve={"gold": 20})
    shares.check(8).check().peek(priority="gold").check(2, priority="gold").check(priority="gold").release(0).check(8)
    shares = f.case("shares of two priorities", 10, MINUTE, reserve={"gold": 50, "silver": 50})
    shares.check(priority="gold").check().check(6, priority="gold").check(4, priority="gold") \
        .peek(5, priority="silver")
    shares.check(5, priority="silver").check(priority="gold").release(3).check(priority="silver") \
        .check(priority="gold")
    shares = f.case("what nobody reserved is for all", 10, MINUTE, reserve={"gold": 30, "silver": 20})
    shares.check(5).check().check(5, priority="gold").check(3, priority="gold").check(priority="gold")
    shares.check(2, priority="silver").check(priority="silver").check(priority="bronze").check(9, priority="gold")
    shares = f.case("shares round down", 7, MINUTE, reserve={"gold": 50})
    shares.check(4).check().check(3, priority="gold").check(priority="gold")
    shares = f.case("a limit lowered below its shares", 10, MINUTE, reserve={"gold": 50})
    shares.check(5).check(4, priority="gold").change(limit=8).check(priority="gold").release(1).check()
    shares.check(2, priority="gold").check(priority="gold").check(priority="gold").peek()


# Walks.
def draw_quota(draw, algorithm):
    window = draw.one_of((MS, 7 * MS, 100 * MS, SECOND, 10 * SECOND, MINUTE, HOUR, DAY))
    limit = draw.between(1, 9) if draw.percent(80) else draw.between(10, 60)
    quota = {}
    if algorithm in BUCKETS:
        quota["rate"] = limit if draw.percent(30) else draw.between(1, 12)
    if algorithm in ("throttle", "tally"):
        window = draw.one_of((1, 2, 7, 60, 3600)) * SECOND
    if algorithm == "leaky_bucket" and draw.percent(70):
        quota["shape"] = True
    if algorithm == "sliding_window":
        quota["segments"] = draw.one_of((1, 2, 3, 5, 7, 8, 12, 48, 64))
        if draw.percent(30):
            quota["strict"] = True
    if algorithm == "concurrency" and draw.percent(40):
        quota["reserve"] = draw.one_of(({"gold": 50}, {"gold": 30, "silver": 40}))
    return limit, window, quota


def wander(f, draw, name, steps):
    """A walk on whole microseconds, so that Redis can follow, or every third time on any nanosecond."""
    algorithm = f.algorithm
    limit, window, quota = draw_quota(draw, algorithm)
    grain = 1 if draw.percent(33) else 1_000
    start = START + draw.between(0, 10_000_000) * 1_000_000 * grain
    case = f.case(name, limit, window, start=start, **quota)
    settles = algorithm not in ("concurrency", "throttle", "tally") and draw.percent(20)
    for _ in range(steps):
        case.wait(draw_gap(draw, case, window, limit, grain))
        draw_verb(draw, case, algorithm, settles)


def draw_gap(draw, case, window, limit, grain):
    def up(wait):
        return -(-wait // grain) * grain

    retry, reset = case.last.get("retry_after"), case.last.get("reset_after", 0)
    what = draw.between(0, 99)
    if isinstance(retry, int) and retry > 0 and what < 45:
        return up(retry) if draw.percent(50) else max(up(retry) - grain, 0)
    if what < 40:
        return 0
    if what < 48 and reset > 0:
        return up(reset) if draw.percent(50) else max(up(reset) - grain, 0)
    if what < 56:
        return draw.between(1, 3) * grain
    if what < 88:
        return draw.between(0, max(window // max(limit, 1) // grain, 1)) * grain
    return draw.between(0, (3 if draw.percent(20) else 1) * window // grain) * grain


def draw_verb(draw, case, algorithm, settles):
    limit = case.quota["limit"]
    cost = draw.one_of((1, 1, 1, 2, 2, 3, max(limit // 3, 1), max(limit // 2, 1), limit)) \
        if draw.percent(92) else draw.one_of((0, limit + 1))
    priority = draw.one_of((None, "gold", "silver", "other")) if "reserve" in case.quota else None
    what = draw.between(0, 99)
    granted = [n for n, check in enumerate(case.checks) if check[1] is not None]
    if algorithm == "concurrency" and what < 30 and granted:
        of = draw.one_of(granted[-4:])
        return case.renew(of) if draw.percent(25) else case.release(of)
    if what < 70:
        return case.check(cost, priority=priority)
    if what < 80:
        return case.peek(cost, priority=priority)
    if settles:
        granted = [n for n in granted if case.can_settle(n)]
        return case.settle(draw.one_of(granted[-3:]), draw.between(0, limit + 2)) if granted else case.check(cost)
    if what < 88 and algorithm != "concurrency":
        return case.refund(draw.between(1, limit + 1)) if algorithm != "gcra" or draw.percent(30) else case.check(cost)
    if what < 90:
        return case.reset()
    if what < 97 and algorithm != "gcra":
        return draw_change(draw, case, algorithm)
    return case.check(cost, priority=priority)


def draw_change(draw, case, algorithm):
    numbers = {"limit": draw.between(1, 2 * case.quota["limit"] + 1)}
    if algorithm in BUCKETS:
        numbers["rate"] = draw.between(1, 2 * case.quota["rate"] + 1)
    if algorithm == "throttle":
        numbers["window_ns"] = draw.one_of((1, 3, 7, 60, 61)) * SECOND
    return case.change(**numbers)


EDGES = {
    "fixed_window": (common_edges, fixed_window, unlimited, settlements, clock_steps_back),
    "sliding_window_log": (common_edges, sliding_window_log, unlimited, settlements, clock_steps_back),
    "sliding_window_counter": (common_edges, sliding_window_counter, unlimited, settlements, clock_steps_back),
    "sliding_window": (common_edges, sliding_window, unlimited, settlements, clock_steps_back),
    "token_bucket": (common_edges, buckets, changing_rates, unlimited, settlements, clock_steps_back),
    "gcra": (common_edges, buckets, changing_rates, unlimited, settlements, clock_steps_back),
    "leaky_bucket": (common_edges, buckets, leaky_bucket, changing_rates, unlimited, settlements, clock_steps_back),
    "throttle": (common_edges, throttle, changing_rates, unlimited),
    "tally": (common_edges, tally),
    "concurrency": (concurrency, unlimited, clock_steps_back_with_holds),
}
FEWEST_LINES, FEWEST_WALKS, STEPS = 220, 4, 12


def lines_of(algorithm):
    f = File(algorithm)
    for edges in EDGES[algorithm]:
        edges(f)
    draw = Draw(sum(algorithm.encode()))
    walk = 0
    while walk < FEWEST_WALKS or len(f.lines) < FEWEST_LINES:
        walk += 1
        wander(f, draw, f"walk {walk}", STEPS)
    return f.lines

#!/usr/bin/env python3
"""What keys have used when their rule changes, in the middle of load, whether the change comes from
a file, over the API or through etcd. Usage: carry_over_test.py SLUICE"""
import unittest

from admin_client import CONFIG, QUOTA, Case, Load, until
from etcd_server import Etcd

BUCKET = {"key_pattern": "user:{user_id}", "algorithm": "token_bucket", "rate": 10, "window": "3650d"}
SEGMENTS = {**QUOTA, "algorithm": "sliding_window", "segments": 8}
MONTH = {**QUOTA, "window": "month", "time_zone": "UTC"}


class CarryOver:
    """Each test is one sentence of what a change of a rule means."""

    def begin(self, rule):
        self.daemon = self.begin_with("a", rule)
        load = Load(self.daemon, "busy")
        self.addCleanup(load.end)
        load.passes(10)
        return load

    def spend(self, user, units):
        for _ in range(units):
            self.assertEqual(self.daemon.check(user_id=user)[0], 200)

    def grants(self, user, most=40):
        return sum(self.daemon.check(user_id=user)[0] == 200 for _ in range(most))

    def fresh_starts(self):
        return self.daemon.log().count("all keys of rule a start with their full limit")

    def test_raised_to_twice_what_is_used_as_much_passes_again(self):
        load = self.begin(QUOTA)
        self.change("a", {**QUOTA, "limit": 20})
        load.passes(20)
        self.assertEqual(self.fresh_starts(), 0)

    def test_lowered_below_what_is_used_denies_with_nothing_left(self):
        load = self.begin(QUOTA)
        self.change("a", {**QUOTA, "limit": 5})
        until(lambda: self.daemon.limits() == {"a": 5})
        load.passes(10)
        status, answer = self.daemon.check(user_id="busy")
        self.assertEqual((status, answer["remaining"]), (429, 0))
        self.change("a", {**QUOTA, "limit": 13})  # The ten are still known.
        load.passes(13)

    def test_another_rate_judges_the_same_use(self):
        load = self.begin(BUCKET)
        self.change("a", {**BUCKET, "rate": 20})
        load.passes(20)
        self.assertEqual(self.fresh_starts(), 0)

    def test_another_burst_judges_the_same_use(self):
        load = self.begin({**BUCKET, "burst": 10})
        self.change("a", {**BUCKET, "burst": 14})
        load.passes(14)
        self.change("a", {**BUCKET, "burst": 3})
        until(lambda: self.daemon.limits() == {"a": 3})
        load.passes(14)
        self.assertEqual(self.daemon.check(user_id="busy")[1]["remaining"], 0)

    def test_what_is_no_part_of_the_shape_keeps_what_is_used(self):
        load = self.begin(QUOTA)
        self.change("a", {**QUOTA, "limit": 12, "match": {"user_id": "*"},
                          "key_pattern": "account:{user_id}", "on_store_error": "deny"})
        load.passes(12)
        self.assertEqual(self.fresh_starts(), 0)

    def starts_fresh(self, before, after):
        load = self.begin(before)
        self.change("a", after)
        load.passes(20)
        until(self.fresh_starts)  # The log is written behind the answers, on a thread of its own.
        self.assertEqual(self.fresh_starts(), 1)  # It says so once.

    def test_another_algorithm_starts_fresh(self):
        self.starts_fresh(QUOTA, {**QUOTA, "algorithm": "sliding_window_log"})

    def test_another_window_starts_fresh(self):
        self.starts_fresh(QUOTA, {**QUOTA, "window": "3649d"})

    def test_other_segments_start_fresh(self):
        self.starts_fresh(SEGMENTS, {**SEGMENTS, "segments": 4})

    def test_another_time_zone_starts_fresh(self):
        self.starts_fresh(MONTH, {**MONTH, "time_zone": "Asia/Tokyo"})

    def test_other_key_attributes_start_fresh(self):
        self.starts_fresh(QUOTA, {**QUOTA, "key_pattern": "user:{user_id}:{plan}"})

    def test_a_rename_keeps_the_state_with_formerly(self):
        self.begin(QUOTA)
        self.spend("other", 7)
        self.rename("a", "b", {**QUOTA, "limit": 12, "formerly": "a"})
        until(lambda: self.daemon.limits() == {"b": 12})
        self.assertEqual(self.grants("other"), 5)

    def test_a_rename_without_formerly_starts_fresh(self):
        self.begin(QUOTA)
        self.spend("other", 7)
        self.rename("a", "b", {**QUOTA, "limit": 12})
        until(lambda: self.daemon.limits() == {"b": 12})
        self.assertEqual(self.grants("other"), 12)


class FilesTest(CarryOver, Case):
    def begin_with(self, rule, fields):
        self.change(rule, fields)
        return self.start()

    def change(self, rule, fields):
        self.write({"id": rule, **fields})

    def rename(self, old, new, fields):
        self.change(new, fields)


class ApiTest(CarryOver, Case):
    def begin_with(self, rule, fields):
        self.start()
        self.change(rule, fields)
        return self.daemon

    def change(self, rule, fields):
        status, answer, _ = self.daemon.ask_admin("PUT", "config/" + rule, fields)
        self.assertEqual(status, 200, answer)

    def rename(self, old, new, fields):
        # A rule in force keeps its state for itself: it goes before its heir comes.
        self.daemon.delete(old)
        self.change(new, fields)


class EtcdTest(CarryOver, Case):
    def setUp(self):
        super().setUp()
        self.etcd = Etcd(self)

    def begin_with(self, rule, fields):
        self.change(rule, fields)
        return self.start(self.node("follower", self.etcd.config(CONFIG)))

    def change(self, rule, fields):
        self.etcd.put(rule, fields)

    def rename(self, old, new, fields):
        self.etcd.delete(old)
        self.etcd.put(new, fields)


if __name__ == "__main__":
    unittest.main(verbosity=2)

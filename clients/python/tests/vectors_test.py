"""Plays clients/vectors: what to do with a response."""

import json
import unittest

from support import ROOT

from sluice_client._advice import Policy, advise

VECTORS = ROOT / "clients" / "vectors"


class VectorsTest(unittest.TestCase):
    def play(self, case):
        response, call = case["response"], case["call"]
        advice = advise(
            response["status"],
            [(name, value) for name, value in response["fields"]],
            response["body"],
            now=call["now_ms"] / 1000,
            policy=Policy(call["max_attempts"], call["cap_ms"] / 1000, call["base_ms"] / 1000,
                          call["jitter_percent"] / 100, call["headroom"]),
            method=call["method"],
            idempotency_key=call["idempotency_key"],
            attempt=call["attempt"],
            deadline=None if call["deadline_ms"] is None else call["deadline_ms"] / 1000,
        )
        expect = dict(case["expect"], wait_ms=case["expect"]["wait_ms"] and tuple(case["expect"]["wait_ms"]))
        got = {"action": advice.action, "reason": advice.reason, "source": advice.source, "wait_ms": advice.wait_ms,
               "hold_ms": advice.hold_ms, "bucket": advice.bucket, "global": advice.everywhere}
        self.assertEqual(got, expect, case["why"])
        if advice.wait_ms:
            for random, end in ((0.0, 0), (1.0, 1)):
                self.assertAlmostEqual(advice.wait_seconds(random) * 1000, expect["wait_ms"][end], delta=0.5)
        self.assertTrue(advice.explain())

    def test_every_case(self):
        count = 0
        for path in sorted(VECTORS.glob("*.json")):
            for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
                with self.subTest(file=path.name, case=case["name"]):
                    self.play(case)
                    count += 1
        self.assertGreaterEqual(count, 200)


if __name__ == "__main__":
    unittest.main()

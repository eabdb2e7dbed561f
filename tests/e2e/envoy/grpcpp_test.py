#!/usr/bin/python3
"""A client of grpc++ against `sluice serve --envoy`. Usage: grpcpp_test.py SLUICE CLIENT"""
import os
import subprocess
import sys
import unittest

import envoy_test

CONFIG = """
domain: d
descriptors:
  - key: year
    rate_limit: {unit: year, requests_per_unit: 3, name: yearly}
    metadata: {team: one, size: 1.5}
  - key: many
    rate_limit: {unit: year, requests_per_unit: 500}
  - key: free
    rate_limit: {unlimited: true}
"""
RULES = """
rules:
  - id: four
    key_pattern: "user:{user_id}"
    algorithm: fixed_window
    limit: 4
    window: 3650d
"""


class GrpcppTest(envoy_test.EnvoyCase):
    binary = ""

    def environment(self, **more):
        environment = super().environment(**more)
        with open(self.root / "sluice.yaml", "a") as file:
            file.write(RULES)
        return environment

    def test_its_client_reads_what_is_answered(self):
        self.configure("first", CONFIG)
        self.start(LIMIT_RESPONSE_HEADERS_ENABLED="true", SLUICE_RATELIMIT_FIELDS="true",
                   RESPONSE_DYNAMIC_METADATA="true")
        run = subprocess.run([self.binary, "127.0.0.1:%d" % self.grpc_port], text=True,
                             capture_output=True, timeout=60)
        self.assertEqual((run.returncode, run.stderr), (0, ""))


if __name__ == "__main__":
    GrpcppTest.sluice, GrpcppTest.binary = map(os.path.abspath, sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:],
                  defaultTest=None if sys.argv[3:] else "GrpcppTest")

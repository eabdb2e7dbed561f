#!/usr/bin/python3
"""What examples/envoy and docs/envoy.md show: files of limits that load; and configurations of
Envoy, Istio and Envoy Gateway whose parts that Envoy reads are put together and held to a real
Envoy, which reads them and starts nothing.

  examples_test.py ROOT SLUICE ENVOY     where ENVOY is not there, that part is skipped, and said
"""
import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import yaml

ROOT = pathlib.Path(sys.argv[1])
EXAMPLES = ROOT / "examples/envoy"
FILTER = "envoy.filters.http.ratelimit"


def documents(name):
    return list(yaml.safe_load_all((EXAMPLES / name).read_text()))


def shown():
    """The YAML blocks of docs/envoy.md."""
    text = (ROOT / "docs/envoy.md").read_text()
    return [yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```", text, re.M | re.S)]


def manager_of(bootstrap):
    listener = bootstrap["static_resources"]["listeners"][0]
    return listener["filter_chains"][0]["filters"][0]["typed_config"]


def with_parts(limit_filter, rate_limits, cluster):
    """The example of plain Envoy with these in place of its own."""
    bootstrap = copy.deepcopy(documents("envoy.yaml")[0])
    manager = manager_of(bootstrap)
    manager["http_filters"][0] = limit_filter
    if rate_limits is not None:
        manager["route_config"]["virtual_hosts"][0]["rate_limits"] = rate_limits
    if cluster is not None:
        bootstrap["static_resources"]["clusters"][1] = cluster
    return bootstrap


def patch_of(document, kind):
    return next(p["patch"]["value"] for p in document["spec"]["configPatches"]
                if p["applyTo"] == kind)


class ExamplesTest(unittest.TestCase):
    sluice = envoy = ""

    def reads(self, bootstrap):
        """Names match, and a real Envoy reads it."""
        names = {c["name"] for c in bootstrap["static_resources"]["clusters"]}
        limit = manager_of(bootstrap)["http_filters"][0]
        self.assertEqual(limit["name"], FILTER)
        asked = limit["typed_config"]["rate_limit_service"]["grpc_service"]["envoy_grpc"]
        self.assertIn(asked["cluster_name"], names)
        if not os.access(self.envoy, os.X_OK):
            self.skipTest("there is no Envoy here (tools/envoy.sh says why)")
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "envoy.json")
            file.write_text(json.dumps(bootstrap))
            run = subprocess.run([self.envoy, "--mode", "validate", "-c", str(file), "-l", "error"],
                                 capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def validate(self, config):
        run = subprocess.run([self.sluice, "validate", "--envoy", str(config)], text=True,
                             capture_output=True, timeout=20)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_files_of_limits_load(self):
        self.validate(EXAMPLES / "config")
        blocks = [block for block in shown() if "domain" in block]
        self.assertTrue(blocks)
        for block in blocks:
            with tempfile.TemporaryDirectory() as folder:
                pathlib.Path(folder, "config.yaml").write_text(yaml.safe_dump(block))
                self.validate(folder)

    def test_plain_envoy(self):
        self.reads(documents("envoy.yaml")[0])

    def test_what_the_document_shows_of_envoy(self):
        block = next(block for block in shown() if "http_filters" in block)
        self.reads(with_parts(block["http_filters"][0], None, block["clusters"][0]))

    def test_istio(self):
        limit, actions = documents("istio.yaml")
        for document in (limit, actions):
            self.assertEqual((document["apiVersion"], document["kind"]),
                             ("networking.istio.io/v1alpha3", "EnvoyFilter"))
        value = patch_of(limit, "HTTP_FILTER")
        cluster = copy.deepcopy(documents("envoy.yaml")[0]["static_resources"]["clusters"][1])
        # Istio makes this one of the Service.
        cluster["name"] = "outbound|8081||sluice.ratelimit.svc.cluster.local"
        self.reads(with_parts(value, patch_of(actions, "VIRTUAL_HOST")["rate_limits"], cluster))

    def test_envoy_gateway(self):
        policy, = documents("envoy-gateway.yaml")
        self.assertEqual((policy["apiVersion"], policy["kind"]),
                         ("gateway.envoyproxy.io/v1alpha1", "EnvoyPatchPolicy"))
        listener, routes, cluster = policy["spec"]["jsonPatches"]
        gateway = "%s/%s/http" % (policy["metadata"]["namespace"], policy["spec"]["targetRef"]["name"])
        self.assertEqual({listener["name"], routes["name"]}, {gateway})
        self.assertEqual(cluster["name"], cluster["operation"]["value"]["name"])
        self.reads(with_parts(listener["operation"]["value"], routes["operation"]["value"],
                              cluster["operation"]["value"]))

    def test_all_ask_by_descriptors_that_the_limits_know(self):
        config = yaml.safe_load((EXAMPLES / "config/shop.yaml").read_text())
        known = {d["key"] for d in config["descriptors"]}
        manager = manager_of(documents("envoy.yaml")[0])
        self.assertEqual(manager["http_filters"][0]["typed_config"]["domain"], config["domain"])
        for limit in manager["route_config"]["virtual_hosts"][0]["rate_limits"]:
            action, = limit["actions"][0].items()
            self.assertIn(action[1].get("descriptor_key", action[0]), known)


if __name__ == "__main__":
    ExamplesTest.sluice, ExamplesTest.envoy = map(os.path.abspath, sys.argv[2:4])
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])

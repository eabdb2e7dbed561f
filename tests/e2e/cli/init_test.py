#!/usr/bin/env python3
"""What `sluice init` writes, as it stands: it validates, it serves, and the proxies that are here
take their part of it. What they do with it is held by e2e.proxies and e2e.envoy, which run the same
files. Usage: init_test.py SLUICE"""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "daemon"))
from harness import DaemonCase, launch, main  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
PROXIES = ("nginx", "caddy", "traefik", "haproxy", "envoy")
NGINX = "events {}\npid nginx.pid;\nerror_log stderr;\nhttp {\n include %s;\n}\n"


class InitTest(DaemonCase):
    def run_sluice(self, *words, code=0):
        run = subprocess.run([self.sluice, *words], cwd=self.root, capture_output=True, text=True,
                             timeout=60)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return run.stdout + run.stderr

    def init(self, proxy=""):
        """Writes into a folder of its own: the files by their names."""
        name = "with_" + proxy
        said = self.run_sluice("init", name, *(["--proxy", proxy] if proxy else []))
        files = re.findall(r"^wrote (.*)$", said, re.M)
        self.assertIn("next: sluice serve --config %s/sluice.yaml" % name, said)
        return {os.path.relpath(file, name): self.root / file for file in files}

    def serve(self, configuration):
        """Starts a daemon as it says, on ports that are free."""
        text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:0", configuration.read_text())
        moved = configuration.with_name("moved.yaml")
        moved.write_text(text)
        self.process, greeting = launch(
            [self.sluice, "serve", "--config", moved.name], configuration.parent,
            env={**os.environ, "STATE_DIRECTORY": str(self.root)})
        self.process.kill()
        self.process.communicate()
        self.process = None
        return greeting

    def test_the_first_configuration_validates_and_serves(self):
        files = self.init()
        self.assertEqual(sorted(files), ["rules.yaml", "sluice.yaml"])
        said = self.run_sluice("validate", str(files["sluice.yaml"]))
        self.assertEqual(said, "ok: 3 rules\n")
        greeting = self.serve(files["sluice.yaml"])
        self.assertRegex(greeting, r"rules   3 from \S*rules.yaml")

    def test_what_is_commented_out_is_valid_too(self):
        files = self.init()
        text = files["sluice.yaml"].read_text()
        uncommented = re.sub(r"^( *)# (- |[a-z_]+: )", r"\1\2", text, flags=re.M)
        self.assertGreater(len(re.findall("^ *#", text, re.M)),
                           len(re.findall("^ *#", uncommented, re.M)) + 5)
        files["sluice.yaml"].write_text(uncommented)
        said = self.run_sluice("validate", str(files["sluice.yaml"]))
        self.assertIn("ok: 3 rules", said)

    def test_nothing_is_overwritten_unasked(self):
        files = self.init()
        files["rules.yaml"].write_text("mine")
        files["sluice.yaml"].unlink()
        said = self.run_sluice("init", "with_", code=2)
        self.assertIn("rules.yaml exists, so nothing was written", said)
        self.assertFalse(files["sluice.yaml"].exists())
        self.run_sluice("init", "with_", "--force")
        self.assertNotEqual(files["rules.yaml"].read_text(), "mine")

    def test_behind_each_proxy_the_daemon_validates_and_serves(self):
        for proxy in PROXIES:
            with self.subTest(proxy=proxy):
                files = self.init(proxy)
                self.run_sluice("validate", str(files["sluice.yaml"]))
                self.serve(files["sluice.yaml"])
                folder = os.path.join(ROOT, "examples", "envoy" if proxy == "envoy" else "proxies")
                for name, path in files.items():
                    with open(os.path.join(folder, name), encoding="utf-8") as example:
                        self.assertEqual(path.read_text(), example.read(), name)

    def test_the_proxies_take_their_part(self):
        checked = []
        for proxy, name, words in (
                ("nginx", "nginx.conf", ["nginx", "-t", "-p", ".", "-c", "whole.conf"]),
                ("caddy", "Caddyfile", ["caddy", "validate", "--adapter", "caddyfile", "--config",
                                        "Caddyfile"]),
                ("haproxy", "haproxy.cfg", ["haproxy", "-c", "-f", "haproxy.cfg"])):
            path = os.pathsep.join([os.environ["PATH"], "/usr/sbin"])
            if shutil.which(words[0], path=path) is None:
                print(proxy, "is not here: its file was not checked")
                continue
            folder = self.init(proxy)[name].parent
            (folder / "whole.conf").write_text(NGINX % name)
            run = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=60,
                                 env={**os.environ, "PATH": path, "HOME": str(self.root)})
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            checked.append(proxy)
        self.assertIn("nginx", checked)


if __name__ == "__main__":
    main(sys.argv)

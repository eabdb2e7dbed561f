"""mypy --strict, for Python 3.9 where this mypy still knows it."""

import importlib.util
import re
import subprocess
import sys
import tempfile
import unittest

from support import ROOT

PROJECT = ROOT / "clients" / "python"
# Their types come from packages of their own, which only the newest versions have.
FRAMEWORKS = ("django", "fastapi", "httpx", "limits", "requests")


@unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed")
class TypesTest(unittest.TestCase):
    def mypy(self, *words):
        with tempfile.TemporaryDirectory() as cache:
            return subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", cache, *words], cwd=PROJECT,
                                  capture_output=True, text=True, timeout=600)

    def test_strict(self):
        version = re.search(r" (\d+)\.", subprocess.run([sys.executable, "-m", "mypy", "--version"], capture_output=True,
                                                        text=True, timeout=60).stdout).group(1)
        if int(version) < 2:
            core = [str(path) for path in (PROJECT / "src" / "sluice_client").glob("*.py") if path.stem not in FRAMEWORKS]
            run = self.mypy("--python-version", "3.9", *core)
        else:
            run = self.mypy()
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


if __name__ == "__main__":
    unittest.main()

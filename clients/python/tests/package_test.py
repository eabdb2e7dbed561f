"""Builds the source archive and the wheel, installs each into an environment of its own, and uses it there."""

import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

from support import ROOT, Daemon

PROJECT = ROOT / "clients" / "python"

TRY = """
import sys, sluice_client
assert "site-packages" in sluice_client.__file__, sluice_client.__file__
with sluice_client.Client(sys.argv[1], timeout=10) as client:
    decisions = [client.check({"ip": "10.9.9.9", "endpoint": "/page"}) for _ in range(3)]
print([d.allowed for d in decisions], decisions[2].reason, any(d.degraded for d in decisions))
"""


class PackageTest(unittest.TestCase):
    def run_in(self, folder, *words, path=None):
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        environment.update({"PYTHONPATH": path} if path else {})
        run = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
        self.assertEqual(run.returncode, 0, " ".join(map(str, words)) + "\n" + run.stdout + run.stderr)
        return run.stdout

    def test_archives(self):
        try:
            import hatchling.build as backend
        except ImportError:
            self.skipTest("hatchling is not installed")
        backend_path = str(pathlib.Path(backend.__file__).parents[1])
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        before = os.getcwd()
        os.chdir(PROJECT)
        try:
            wheel = root / backend.build_wheel(str(root))
            source = root / backend.build_sdist(str(root))
        finally:
            os.chdir(before)
        modules = {path.name for path in (PROJECT / "src" / "sluice_client").iterdir() if path.suffix in (".py", ".typed")}
        packed = zipfile.ZipFile(wheel).namelist()
        self.assertEqual({pathlib.PurePosixPath(name).name for name in packed if name.startswith("sluice_client/")}, modules)
        names = tarfile.open(source).getnames()
        self.assertFalse([name for name in names if "/tests/" in name or "__pycache__" in name], names)

        daemon = Daemon()
        self.addCleanup(daemon.close)
        for archive in (wheel, source):
            place = root / archive.suffix.strip(".")
            self.run_in(root, sys.executable, "-m", "venv", str(place))
            python = str(place / "bin" / "python")
            # From the archive alone: nothing is fetched. The build uses hatchling of this interpreter.
            self.run_in(root, python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--no-build-isolation",
                        "--disable-pip-version-check", str(archive), path=backend_path)
            self.assertEqual(self.run_in(root, python, "-c", TRY, daemon.url).strip(),
                             "[True, True, False] quota_exceeded False")
            daemon.stop()
            daemon.start()


if __name__ == "__main__":
    unittest.main()

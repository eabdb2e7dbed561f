#!/usr/bin/env python3
"""Plants another version in each file: the check must find each."""
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))
import check_versions  # noqa: E402


class CheckVersionsTest(unittest.TestCase):
    def problems(self, changed, old, new):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for file in [check_versions.DECIDES[0], *(place for place, _ in check_versions.PLACES)]:
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                text = (ROOT / file).read_text(encoding="utf-8")
                (root / file).write_text(text.replace(old, new) if file == changed else text,
                                         encoding="utf-8")
            return check_versions.problems_of(root)

    def setUp(self):
        text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
        self.version = text.split("VERSION ")[2].split()[0]

    def test_every_file_is_read(self):
        for file, _ in check_versions.PLACES:
            self.assertTrue(self.problems(file, self.version, "9.8.7"), file)

    def test_a_file_without_a_version_is_found(self):
        for file, _ in check_versions.PLACES:
            self.assertTrue(self.problems(file, self.version, "x"), file)

    def test_the_version_that_decides_is_compared_with_all(self):
        places = self.problems("CMakeLists.txt", self.version, "9.8.7")
        self.assertGreaterEqual(len(places), len(check_versions.PLACES))


if __name__ == "__main__":
    unittest.main()

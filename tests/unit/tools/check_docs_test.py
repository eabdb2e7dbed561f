#!/usr/bin/env python3
"""Plants one dead name after another in a document: the check must find each."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools"))
import check_docs  # noqa: E402


class CheckDocsTest(unittest.TestCase):
    def problems(self, text):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in ("src/core/quota.h", "tests/unit/core/quota_test.cc", "docs/time.md"):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text("# The `time` line\n")
            document = root / "ARCHITECTURE.md"
            document.write_text(text)
            return list(check_docs.problems_of(document, root))

    def test_names_that_exist_pass(self):
        self.assertEqual(self.problems(
            "`src/core/quota.h`, `core/quota.h`, `tests/unit/core/*_test.cc`, `docs/`, `time_ns / 2`,\n"
            "`build/dev/bin/sluice`, [time](docs/time.md#the-time-line), [web](https://example.org/x.md)\n"
            "```\n`src/gone.h`\n```\n"), [])

    def test_a_file_that_is_gone_is_found(self):
        self.assertEqual(len(self.problems("see `src/core/gone.h`")), 1)

    def test_a_folder_that_is_gone_is_found(self):
        self.assertEqual(len(self.problems("see `src/gone/`")), 1)

    def test_a_pattern_that_nothing_matches_is_found(self):
        self.assertEqual(len(self.problems("see `tests/unit/core/*_property.cc`")), 1)

    def test_a_dead_link_is_found(self):
        self.assertEqual(len(self.problems("see [it](docs/gone.md)")), 1)

    def test_a_link_to_a_heading_that_is_gone_is_found(self):
        self.assertEqual(len(self.problems("see [it](docs/time.md#the-space-line)")), 1)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Plants a library without a licence, and its like: the check must find each."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools"))
import check_notice  # noqa: E402


class CheckNoticeTest(unittest.TestCase):
    def problems(self, cmake, notice):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "cmake").mkdir()
            (root / "build").mkdir()
            (root / "CMakeLists.txt").write_text("find_package(Python3)\n")
            (root / "build/CMakeLists.txt").write_text("find_package(Other)\n")
            (root / "cmake/Dependencies.cmake").write_text(cmake)
            (root / "NOTICE").write_text(notice)
            return check_notice.problems_of(root)

    def test_a_library_with_its_licence_passes(self):
        self.assertEqual(self.problems(
            "find_package(fmt REQUIRED)  # fmt::fmt\npkg_check_modules(x REQUIRED grpc++)\n",
            "fmt | {fmt} | MIT | headers\ngrpc++ | gRPC | Apache-2.0 AND MIT | a test\n"
            "(compiler) | libstdc++ | GPL-3.0-or-later WITH GCC-exception-3.1 | shared\n"), [])

    def test_a_library_without_a_line_is_found(self):
        self.assertEqual(self.problems("find_package(fmt)\n", ""),
                         ["cmake/Dependencies.cmake: looks for fmt, which has no line in NOTICE"])
        self.assertEqual(len(self.problems("pkg_check_modules(x REQUIRED IMPORTED_TARGET a b)\n", "")), 2)

    def test_a_licence_that_forbids_is_found(self):
        for licence in ("GPL-3.0-or-later", "MIT AND AGPL-3.0-only", ""):
            self.assertEqual(len(self.problems("find_package(fmt)\n", f"fmt | f | {licence} | h\n")), 1)

    def test_a_line_for_what_is_gone_is_found(self):
        self.assertEqual(self.problems("", "fmt | {fmt} | MIT | headers\n"),
                         ["NOTICE: names fmt, which no CMake file looks for"])


if __name__ == "__main__":
    unittest.main()

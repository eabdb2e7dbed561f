#!/usr/bin/env python3
"""Plants one wrong include after another in a small tree: the check must find each."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools"))
import check_layers  # noqa: E402

GOOD = {
    "src/base/CMakeLists.txt": "sluice_add_layer(base SOURCES clock.cc)",
    "src/base/clock.cc": '#include "base/clock.h"\n#include <time.h>\n',
    "src/core/CMakeLists.txt": "sluice_add_layer(core\n  DEPENDS base\n  SOURCES quota.cc)",
    "src/core/quota.cc": '#include "sluice/decision.h"\n\n#include "base/clock.h"\n',
    "src/frontend/CMakeLists.txt": "sluice_add_layer(frontend DEPENDS base core LINKS fmt::fmt)",
    "src/frontend/http/front_end.h": '#include "core/quota.h"\n#include "frontend/http/front_end.h"\n',
    "include/sluice/decision.h": '#include <cstdint>\n#include <tl/expected.hpp>\n#include "sluice/time.h"\n',
    "apps/sluice/main.cc": '#include "frontend/http/front_end.h"\n#include "core/quota.h"\n',
}


class CheckLayersTest(unittest.TestCase):
    def problems(self, **changed):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {**GOOD, **changed.get("files", {})}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return list(check_layers.problems_in(root))

    def finds(self, name, text, *words):
        found = self.problems(files={name: text})
        self.assertEqual(len(found), 1, found)
        for word in words:
            self.assertIn(word, found[0])

    def test_a_tree_that_keeps_the_rule_has_no_problem(self):
        self.assertEqual(self.problems(), [])

    def test_an_upward_include_is_found(self):
        self.finds("src/core/up.h", '#include "frontend/http/front_end.h"\n',
                   "src/core/up.h", "core may not include frontend/http/front_end.h")

    def test_an_upward_include_deep_in_a_layer_is_found(self):
        self.finds("src/core/deep/er/up.cc", '  #  include "frontend/http/front_end.h"\n', "core may not")

    def test_a_sideways_include_from_a_front_end_is_found(self):
        files = {"src/net/CMakeLists.txt": "sluice_add_layer(net DEPENDS base)",
                 "src/net/loop.h": "",
                 "src/frontend/http/side.h": '#include "net/loop.h"\n'}
        found = self.problems(files=files)
        self.assertEqual(len(found), 1, found)
        self.assertIn("it depends on: base, core", found[0])

    def test_an_include_around_the_rule_by_dots_is_found(self):
        self.finds("src/base/around.h", '#include "../frontend/http/front_end.h"\n', "starts with no layer")

    def test_a_layer_that_includes_apps_is_found(self):
        self.finds("src/core/app.h", '#include "apps/sluice/main.h"\n', "starts with no layer")

    def test_a_test_that_includes_apps_is_found(self):
        self.finds("tests/unit/x_test.cc", '#include "apps/sluice/main.h"\n', "nothing includes apps")

    def test_a_folder_without_a_layer_is_found(self):
        self.finds("src/stray/x.h", "#include <span>\n", "src/stray is no layer")

    def test_a_public_header_that_sees_a_layer_is_found(self):
        self.finds("include/sluice/x.h", '#include "core/quota.h"\n', "public header")

    def test_a_public_header_that_sees_a_third_party_is_found(self):
        self.finds("include/sluice/x.h", "#include <fmt/format.h>\n", "public header")

    def test_a_public_header_that_sees_the_system_is_found(self):
        self.finds("include/sluice/x.h", "#include <unistd.h>\n", "public header")

    def test_an_example_that_sees_a_layer_is_found(self):
        self.finds("examples/in_process/main.cc", '#include "core/quota.h"\n', "example")

    def test_a_cycle_among_the_layers_is_found(self):
        found = self.problems(
            files={"src/base/CMakeLists.txt": "sluice_add_layer(base DEPENDS core SOURCES clock.cc)"})
        self.assertTrue(any("cycle" in problem for problem in found), found)

    def test_a_dependency_on_no_layer_is_found(self):
        self.finds("src/base/CMakeLists.txt", "sluice_add_layer(base DEPENDS cor SOURCES clock.cc)",
                   "cor, which is no layer")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Fails when a library that CMake looks for has no line in NOTICE, or none that allows distribution
under MIT, BSD or Apache-2.0; and when NOTICE names one that no CMake file looks for.

Read are find_package() and pkg_check_modules() of every CMake file but those of examples/, which are
other projects. Run by ctest as the test `tidy.notice`; by hand: tools/check_notice.py [ROOT]
"""
import pathlib
import re
import sys

# Permissive licences, public domain, and the two of the system's own libraries, which a program that
# loads them as shared libraries may combine with any licence.
ALLOWED = {"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "MIT", "Zlib",
           "LGPL-2.1-or-later", "GPL-3.0-or-later WITH GCC-exception-3.1"}
# Programs and modules of CMake: nothing is linked.
TOOLS = {"PkgConfig", "Python3"}
NOT_OURS = ("build", "examples", "debian")
FIND = re.compile(r"^\s*find_package\(\s*([\w.+-]+)", re.M)
MODULES = re.compile(r"^\s*pkg_check_modules\(\s*\w+\s+([^)]*)\)", re.M)
KEYWORDS = {"REQUIRED", "QUIET", "IMPORTED_TARGET", "GLOBAL"}


def looked_for(root):
    """{name: the file that looks for it}"""
    found = {}
    files = [root / "CMakeLists.txt"]
    for folder in sorted(root.iterdir()):
        if folder.is_dir() and folder.name not in NOT_OURS and not folder.name.startswith("."):
            files += [*folder.rglob("CMakeLists.txt"), *folder.rglob("*.cmake")]
    for file in files:
        text = file.read_text(encoding="utf-8")
        names = FIND.findall(text)
        for modules in MODULES.findall(text):
            names += [word for word in modules.split() if word not in KEYWORDS]
        found.update({name: file.relative_to(root) for name in names if name not in TOOLS})
    return found


def noticed(root):
    """{name: licence}"""
    rows = [[cell.strip() for cell in line.split("|")]
            for line in (root / "NOTICE").read_text(encoding="utf-8").splitlines()
            if line.count("|") == 3 and not line.startswith("Each line")]
    return {row[0]: row[2] for row in rows}


def problems_of(root):
    wanted, lines = looked_for(root), noticed(root)
    problems = [f"{place}: looks for {name}, which has no line in NOTICE"
                for name, place in wanted.items() if name not in lines]
    problems += [f"NOTICE: {name}: {licence} is not known to allow MIT, BSD or Apache-2.0"
                 for name, licence in lines.items() if not set(licence.split(" AND ")) <= ALLOWED]
    problems += [f"NOTICE: names {name}, which no CMake file looks for"
                 for name in lines if name not in wanted and not name.startswith("(")]
    return sorted(problems)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    problems = problems_of(root)
    print("\n".join(problems) or "every library that CMake looks for has its licence in NOTICE")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

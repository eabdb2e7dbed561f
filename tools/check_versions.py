#!/usr/bin/env python3
"""Fails when a file names another version of Sluice than CMakeLists.txt, which decides.

Each file of PLACES must name the version at least once, and everywhere the same one. Run by ctest as the
test `tidy.versions`; by hand: tools/check_versions.py [ROOT]
"""
import pathlib
import re
import sys

DECIDES = ("CMakeLists.txt", r"^project\(sluice VERSION ([\d.]+)")
PLACES = [
    ("debian/changelog", r"\Asluice \(([\d.]+)\)"),
    ("packaging/helm/sluice/Chart.yaml", r'^(?:version|appVersion): "?([\d.]+)'),
    ("packaging/compose/compose.yaml", r"\bsluice[:-](\d[\d.]*\d)"),
    ("packaging/Dockerfile", r"\bsluice:(\d[\d.]*\d)"),
    ("docs/install.md", r"\bsluice[:_-](\d[\d.]*\d)"),
]


def problems_of(root):
    def versions(file, pattern):
        return re.findall(pattern, (root / file).read_text(encoding="utf-8"), re.M)

    wanted = versions(*DECIDES)[0]
    problems = []
    for file, pattern in PLACES:
        found = versions(file, pattern)
        if not found:
            problems.append(f"{file}: names no version of Sluice")
        problems += [f"{file}: names version {version}, and CMakeLists.txt {wanted}"
                     for version in found if version != wanted]
    return problems


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    problems = problems_of(root)
    print("\n".join(problems) or "every file names the same version")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

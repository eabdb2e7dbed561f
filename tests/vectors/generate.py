#!/usr/bin/env python3
"""Writes the golden vectors, or with --check says which files are not what it would write.

    tests/vectors/generate.py            writes tests/vectors/*.jsonl
    tests/vectors/generate.py --check    exits with 1 if a file differs
"""

import argparse
import difflib
import pathlib
import sys

from case import text_of
from histories import lines_of
from oracles import ALGORITHMS


def main():
    parser = argparse.ArgumentParser(description="Writes the golden vectors beside this program.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file differs")
    arguments = parser.parse_args()
    folder = pathlib.Path(__file__).resolve().parent
    wanted = {folder / f"{algorithm}.jsonl": text_of(lines_of(algorithm)) for algorithm in ALGORITHMS}
    if not arguments.check:
        for path, text in wanted.items():
            path.write_text(text)
        return 0
    differ = set(folder.glob("*.jsonl")) - set(wanted)
    for path in sorted(differ):
        print(f"{path.name}: no algorithm has this name")
    for path, text in wanted.items():
        found = path.read_text() if path.exists() else ""
        if found != text:
            differ.add(path)
            print(f"{path.name} is not what generate.py writes. The first difference:")
            lines = difflib.unified_diff(found.splitlines(), text.splitlines(), "file", "generated", n=0, lineterm="")
            print("\n".join(list(lines)[:6]))
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())

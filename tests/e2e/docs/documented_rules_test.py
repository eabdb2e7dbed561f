#!/usr/bin/env python3
"""Every rule file that a document shows, and every one in examples/, is one that loads. And
the program that the README shows is the example that the tests build.

documented_rules_test.py ROOT SLUICE
"""
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```yaml\n(rules:.*?)^```", re.M | re.S)


def main():
    root, sluice = pathlib.Path(sys.argv[1]), sys.argv[2]
    shown = []
    for document in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        text = document.read_text(encoding="utf-8")
        shown += [(f"{document.relative_to(root)}:{text[:block.start()].count(chr(10)) + 1}", block.group(1))
                  for block in BLOCK.finditer(text)]
    shown += [(str(file.relative_to(root)), file.read_text(encoding="utf-8"))
              for file in sorted((root / "examples").rglob("*.yaml"))
              if re.search(r"^rules:", file.read_text(encoding="utf-8"), re.M)
              and not re.search(r"^(listeners|store|table|rule_sources):", file.read_text(encoding="utf-8"), re.M)]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for place, rules in shown:
            file = pathlib.Path(folder, "rules.yaml")
            file.write_text(rules, encoding="utf-8")
            run = subprocess.run([sluice, "validate", str(file)], capture_output=True, text=True)
            if run.returncode != 0:
                failed += 1
                print(f"{place}: does not load:\n{run.stdout}{run.stderr}")
    example = (root / "examples/in_process/main.cc").read_text(encoding="utf-8").strip()
    if example not in (root / "README.md").read_text(encoding="utf-8"):
        failed += 1
        print("README.md: its program is not that of examples/in_process/main.cc")
    print(f"{len(shown)} rule files shown, {failed} problems")
    return 1 if failed or not shown else 0


if __name__ == "__main__":
    sys.exit(main())

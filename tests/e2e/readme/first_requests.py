#!/usr/bin/env python3
"""Types README's first requests against the daemon that README says to start, and compares.

  first_requests.py README.md     the daemon of `make run` is up, in this folder

Each ```console block is typed: what stands behind "$ " is run by bash, and what it prints must be
what README shows, digits and dates aside (a number stands for any number).
"""
import pathlib
import re
import subprocess
import sys


def blocks(text):
    return re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S)


def typed(block):
    """Pairs of a command and the lines that README shows below it."""
    steps = []
    for line in block.splitlines():
        if line.startswith("$ "):
            steps.append((line[2:], []))
        elif steps:
            steps[-1][1].append(line)
    return steps


def shape(lines):
    kept = []
    for line in lines:
        line = re.sub(r"\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} [\d:]{8} GMT", "DATE", line)
        line = re.sub(r"\d+(\.\d+)?", "N", line.rstrip())
        line = re.sub(r" +", " ", line)
        if line:
            kept.append(line)
    return kept


def main():
    steps = [step for block in blocks(pathlib.Path(sys.argv[1]).read_text()) for step in typed(block)]
    failed = 0
    for command, shown in steps:
        run = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
        got = run.stdout.replace("\r", "").splitlines()  # curl's progress meter is on stderr.
        if shape(got) != shape(shown):
            failed += 1
            print("DIFFERS  $ %s\n  README shows:\n%s\n  it prints:\n%s" % (
                command, "\n".join("    " + line for line in shown),
                "\n".join("    " + line for line in got)))
        else:
            print("same     $ %s" % command)
    print("%d passed, %d failed" % (len(steps) - failed, failed))
    return 1 if failed or not steps else 0


if __name__ == "__main__":
    sys.exit(main())

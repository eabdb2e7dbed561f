#!/usr/bin/env python3
"""Fails when a document names a file that is not there, or links to nothing.

Read are ARCHITECTURE.md, README.md, CONTRIBUTING.md, CHANGELOG.md and docs/**/*.md. A name
in `backticks` that looks like a path of ours (src/core/quota.h, tools/, tests/*_test.cc) must
exist below the root, or below src/ or include/; a [link](target#anchor) must point at a file
and a heading that exist. Code blocks are not read.
Run by ctest as the test `tidy.docs`; by hand: tools/check_docs.py [ROOT]
"""
import pathlib
import re
import sys

DOCUMENTS = ["ARCHITECTURE.md", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
FENCE = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+\s+(.*?)\s*$", re.M)
# A path of ours: words and slashes with a suffix, or a folder with a closing slash.
SUFFIXES = "h|cc|py|sh|md|txt|cmake|yaml|yml|json|in|service|dict|lua|proto"
PATH = re.compile(rf"^(?:[\w.*-]+/)+(?:[\w.*-]+\.(?:{SUFFIXES}))?$|^[\w-]+\.(?:md|cmake)$")
# Folders whose names appear in documents but are made by building or by installing.
MADE = ("build/", "etc/", "usr/", "lib/", "bin/", "dev/", "var/")


def anchor(heading):
    text = re.sub(r"[`*]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)).lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def exists(root, name, beside):
    places = [root, root / "src", root / "include", beside]
    return any(any(place.glob(name.rstrip("/"))) for place in places)


def problems_of(document, root):
    text = FENCE.sub("", document.read_text(encoding="utf-8"))
    for name in CODE.findall(text):
        if PATH.match(name) and not name.startswith(MADE) and not exists(root, name, document.parent):
            yield f"{document}: names `{name}`, which does not exist"
    for target in LINK.findall(CODE.sub("", text)):
        if re.match(r"[a-z]+:", target):
            continue  # The web is not ours to check.
        name, _, fragment = target.partition("#")
        file = (document.parent / name) if name else document
        if not file.exists():
            yield f"{document}: links to {target}, which does not exist"
        elif fragment and file.suffix == ".md":
            headings = HEADING.findall(FENCE.sub("", file.read_text(encoding="utf-8")))
            if fragment not in {anchor(h) for h in headings}:
                yield f"{document}: links to {target}, and there is no such heading"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    documents = [root / name for name in DOCUMENTS if (root / name).exists()]
    documents += sorted((root / "docs").rglob("*.md"))
    problems = [p for document in documents for p in problems_of(document, root)]
    print("\n".join(problems) or f"{len(documents)} documents, every file and link they name is there")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

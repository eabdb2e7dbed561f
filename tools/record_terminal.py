#!/usr/bin/env python3
"""Records a terminal session with the real program as an SVG picture.

record_terminal.py SLUICE OUT.svg [--tour FILE]

Starts `SLUICE serve` with the rules of the tour, runs each command of the tour in a pseudo terminal,
and draws what was typed and what came back. A tour is a text file: the lines of the rule file up to a
line `---`, then one shell command a line. Lines that begin with # are left out. The daemon uses the
default ports, so that the picture shows the addresses a reader will see: they must be free
(`unshare --net` with the loopback interface up gives them to you).
"""
import argparse
import html
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

COLUMNS = 104
CHARACTER, LINE = 8.4, 20  # Pixels of one cell at 14 px of a monospace font.
READY = "http://127.0.0.1:8080/readyz"
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")
# What is coloured in a line of output: the first that matches.
STYLES = [(re.compile(pattern), style) for pattern, style in [
    (r"^HTTP/[0-9.]+ 2.*|^allowed.*", "good"),
    (r"^HTTP/[0-9.]+ 4.*|^denied.*", "bad"),
    (r"(?i)^(retry-after|ratelimit|ratelimit-policy):.*", "field"),
]]
CSS = """
  .page { fill: #fbfbfd; stroke: #d0d4dc } .bar { fill: #e9ebf0 } .dot { fill: #c3c8d2 }
  text { font: 14px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #24292f; white-space: pre }
  .prompt { fill: #6e7781 } .typed { fill: #0550ae; font-weight: 600 } .rule { fill: #57606a }
  .good { fill: #1a7f37; font-weight: 600 } .bad { fill: #cf222e; font-weight: 600 } .field { fill: #8250df }
  @media (prefers-color-scheme: dark) {
    .page { fill: #161b22; stroke: #30363d } .bar { fill: #21262d } .dot { fill: #484f58 } text { fill: #e6edf3 }
    .prompt { fill: #8b949e } .typed { fill: #79c0ff } .rule { fill: #adbac7 }
    .good { fill: #56d364 } .bad { fill: #ff7b72 } .field { fill: #d2a8ff }
  }"""


def run(command, folder, environment):
    """The text that a command writes to a terminal of COLUMNS columns."""
    leader, follower = pty.openpty()
    child = subprocess.Popen(["bash", "--norc", "-c", f"stty cols {COLUMNS}; {command}"], cwd=folder,
                             env=environment, stdin=follower, stdout=follower, stderr=follower)
    os.close(follower)
    text = b""
    try:
        while piece := os.read(leader, 65536):
            text += piece
    except OSError:
        pass  # The last process that had the terminal has closed it.
    os.close(leader)
    child.wait()
    return ESCAPES.sub("", text.decode("utf-8", "replace")).replace("\r", "").rstrip("\n").split("\n")


def wrapped(text):
    """Lines of at most COLUMNS cells, as a terminal breaks them."""
    return [text[i:i + COLUMNS] for i in range(0, max(len(text), 1), COLUMNS)]


def style_of(text):
    return next((style for pattern, style in STYLES if pattern.match(text)), "")


def draw(lines):
    """An SVG of [(style, text), ...]; a style of "typed" puts a prompt before its text."""
    width, height = COLUMNS * CHARACTER + 40, len(lines) * LINE + 62
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}" '
           f'role="img" aria-label="A terminal session with Sluice">', f"<style>{CSS}\n</style>",
           f'<rect class="page" x="0.5" y="0.5" width="{width - 1:.0f}" height="{height - 1}" rx="9"/>',
           f'<path class="bar" d="M1 34V9.500a8.5 8.5 0 0 1 8.5-8.5H{width - 9.5:.1f}a8.5 8.5 0 0 1 8.5 8.5V34z"/>']
    out += [f'<circle class="dot" cx="{20 + 18 * i}" cy="17" r="5.5"/>' for i in range(3)]
    for row, (style, text) in enumerate(lines):
        y = 58 + row * LINE
        if style == "typed":
            out.append(f'<text x="20" y="{y}"><tspan class="prompt">$ </tspan>'
                       f'<tspan class="typed">{html.escape(text)}</tspan></text>')
        elif text:
            out.append(f'<text x="20" y="{y}"' + (f' class="{style}"' if style else "") + f">{html.escape(text)}</text>")
    return "\n".join(out) + "\n</svg>\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sluice", type=pathlib.Path)
    parser.add_argument("picture", type=pathlib.Path)
    parser.add_argument("--tour", type=pathlib.Path, default=pathlib.Path(__file__).parent / "tour.txt")
    options = parser.parse_args()
    rules, _, commands = options.tour.read_text(encoding="utf-8").partition("---\n")
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "rules.yaml").write_text(rules, encoding="utf-8")
        environment = {"PATH": f"{options.sluice.resolve().parent}:{os.environ['PATH']}", "HOME": folder,
                       "TERM": "xterm", "LANG": "C.UTF-8", "STATE_DIRECTORY": folder, "TZ": "UTC"}
        configuration = pathlib.Path(folder, "daemon.yaml")
        configuration.write_text(f"rule_sources: [{{files: [rules.yaml]}}]\n"
                                 f"table: {{path: {folder}/table, keys: 1000, snapshot_interval: off}}\n", encoding="utf-8")
        daemon = subprocess.Popen([options.sluice.resolve(), "serve", "--config", configuration], env=environment,
                                  stdout=subprocess.DEVNULL)
        try:
            for _ in range(100):
                try:
                    urllib.request.urlopen(READY, timeout=1)
                    break
                except (urllib.error.URLError, OSError):
                    if daemon.poll() is not None:
                        return "the daemon did not start"
                    time.sleep(0.05)
            for command in (c for c in commands.splitlines() if c and not c.startswith("#")):
                first, *more = wrapped("$ " + command)
                lines += [("typed", first[2:])] + [("typed more", text) for text in more]
                style = "rule" if command.startswith("cat ") else None
                for text in run(command, folder, environment):
                    lines += [(style or style_of(text), piece) for piece in wrapped(text)]
                lines.append(("", ""))
        finally:
            daemon.terminate()
            daemon.wait()
    options.picture.write_text(draw(lines[:-1]), encoding="utf-8")
    print(f"{options.picture}: {len(lines) - 1} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The examples in docs/examples/: each page has a rule file and a script of requests, the rule file is
valid, and the rules decide every request of the script as the script says.

examples_test.py ROOT SLUICE [NAME...]

A script is NAME.jsonl. Each line is a step:
  at       when, since 2026-01-01T00:00:00Z: "0s", "14m59s", "31d", "250ms"
  times    how often the request is sent (1); every: the time between two of them (0s)
  request  the attributes; "{n}" in a value is the number of the repetition, from 0
  holds    how many holds each of these requests is granted: one for each concurrency rule that applies (0)
  done     true: each request ends, and its holds are released, before the next one begins
  op       instead of a check: refund (with cost), release (with hold, counted from 1 over the script), reset
  expect   of a check: allowed (true, false, or how many of `times` are), and where it matters
           denied_by (all rules that deny), shadow_denied_by, reason, and, of the last
           repetition, remaining (of rules by name) and retry_after
  says     why, in words
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

START_NS = 1_767_225_600 * 10**9
UNITS = {"ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9, "d": 86400 * 10**9}
STEP = {"at", "times", "every", "request", "op", "cost", "hold", "holds", "done", "expect", "says"}
EXPECT = {"allowed", "denied_by", "shadow_denied_by", "reason", "remaining", "retry_after"}
HEADINGS = ["What is promised", "The rules", "Why these algorithms", "What it costs", "What differs"]
BLOCK = re.compile(r"^```yaml\n(.*?)^```", re.M | re.S)


class Wrong(Exception):
    """An example that is incomplete, or whose rules decide otherwise than it says."""


def nanoseconds(text):
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", text)
    if "".join(number + unit for number, unit in parts) != text or not parts:
        raise Wrong(f"{text!r} is not a time such as 14m59s")
    return sum(round(float(number) * UNITS[unit]) for number, unit in parts)


def steps_of(script):
    steps = []
    for number, line in enumerate(script.read_text(encoding="utf-8").splitlines(), 1):
        step = json.loads(line)
        op = step.get("op", "check")
        expected = step.get("expect", {})
        unknown = set(step) - STEP | set(expected) - EXPECT
        if unknown:
            raise Wrong(f"line {number}: unknown members {sorted(unknown)}")
        if (op == "check") != ("allowed" in expected):
            raise Wrong(f"line {number}: a check says what is allowed, and nothing else does")
        if expected.get("allowed") is False and "denied_by" not in expected:
            raise Wrong(f"line {number}: a denial says which rules deny")
        steps.append((number, step))
    if not steps:
        raise Wrong("its script is empty")
    return steps


def events_of(steps):
    granted = 0  # Holds so far: the next one has the next number.
    for _, step in steps:
        time = START_NS + nanoseconds(step["at"])
        for n in range(step.get("times", 1)):
            event = {name: value.replace("{n}", str(n)) if isinstance(value, str) else value
                     for name, value in step.get("request", {}).items()}
            event["t_ns"] = time + n * nanoseconds(step.get("every", "0s"))
            event.update({name: step[name] for name in ("op", "cost", "hold") if name in step})
            yield event
            for _ in range(step.get("holds", 0)):
                granted += 1
                if step.get("done"):
                    yield {"t_ns": event["t_ns"], "op": "release", "hold": granted}


def judge(step, answers):
    """Raises Wrong if the answers to the requests of a step are not the expected ones."""
    expected = step["expect"]
    allowed = expected["allowed"]
    if isinstance(allowed, bool):
        for n, answer in enumerate(answers):
            if answer["allowed"] != allowed:
                raise Wrong(f"request {n + 1} of {len(answers)}: allowed is {answer['allowed']}, not {allowed}")
    elif sum(answer["allowed"] for answer in answers) != allowed:
        raise Wrong(f"{sum(a['allowed'] for a in answers)} of {len(answers)} requests are allowed, not {allowed}")
    last = {decision["name"]: decision for decision in answers[-1]["decisions"]}
    for answer in answers:
        for member, shadow in (("denied_by", False), ("shadow_denied_by", True)):
            names = sorted(d["name"] for d in answer["decisions"] if d["shadow"] == shadow and not d["allowed"])
            if member in expected and not (isinstance(allowed, int) and not isinstance(allowed, bool)
                                           and not names) and names != sorted(expected[member]):
                raise Wrong(f"{member} is {names}, not {sorted(expected[member])}")
        reasons = {d["reason"] for d in answer["decisions"] if not d["allowed"] and not d["shadow"]}
        if "reason" in expected and not answer["allowed"] and reasons != {expected["reason"]}:
            raise Wrong(f"the reason is {sorted(reasons)}, not {expected['reason']!r}")
    for name, remaining in expected.get("remaining", {}).items():
        if name not in last or last[name]["remaining"] != remaining:
            raise Wrong(f"of {name} {last.get(name, {}).get('remaining')} remain, not {remaining}")
    if "retry_after" in expected:
        wait = expected["retry_after"]
        if answers[-1]["retry_after_ns"] != (None if wait is None else nanoseconds(wait)):
            raise Wrong(f"retry_after_ns is {answers[-1]['retry_after_ns']}, not {wait}")


def play(page, sluice):
    """The number of requests of the example's script, all of which were decided as expected."""
    rules, script = page.with_suffix(".yaml"), page.with_suffix(".jsonl")
    for file in (rules, script):
        if not file.exists():
            raise Wrong(f"{file.name} is missing")
    text = page.read_text(encoding="utf-8")
    missing = [heading for heading in HEADINGS if f"\n## {heading}\n" not in text]
    if missing:
        raise Wrong(f"the page has no section {missing}")
    if rules.read_text(encoding="utf-8") not in BLOCK.findall(text):
        raise Wrong(f"the page does not show {rules.name} as it is")
    valid = subprocess.run([sluice, "validate", str(rules)], capture_output=True, text=True)
    if valid.returncode != 0 or "warning" in valid.stdout + valid.stderr:
        raise Wrong(f"{rules.name} is not valid, or has a warning:\n{valid.stdout}{valid.stderr}")
    steps = steps_of(script)
    with tempfile.TemporaryDirectory() as folder:
        events = pathlib.Path(folder, "events.jsonl")
        events.write_text("".join(json.dumps(event) + "\n" for event in events_of(steps)),
                          encoding="utf-8")
        run = subprocess.run([sluice, "replay", "--rules", str(rules), "--format", "events", "--decisions",
                              str(events)], capture_output=True, text=True)
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    errors = [answer for answer in answers if "error" in answer]
    if run.returncode != 0 or errors or "never granted" in run.stderr:
        raise Wrong(f"the script does not run: {errors[:3]} {run.stderr}")
    position = 0
    for number, step in steps:
        if "expect" in step:
            end = position + step.get("times", 1)
            try:
                judge(step, answers[position:end])
            except Wrong as problem:
                raise Wrong(f"{script.name}:{number}: {problem}\n  ({step.get('says', '')})") from None
            position = end
    if position != len(answers):
        raise Wrong(f"{len(answers)} answers to {position} requests")
    return position


def main():
    folder, sluice, names = pathlib.Path(sys.argv[1], "docs/examples"), sys.argv[2], sys.argv[3:]
    pages = [page for page in sorted(folder.glob("*.md")) if page.name != "README.md"]
    index = (folder / "README.md").read_text(encoding="utf-8")
    failed = total = 0
    for page in pages:
        if names and page.stem not in names:
            continue
        try:
            requests = play(page, sluice)
            if f"]({page.name})" not in index:
                raise Wrong("README.md does not list it")
            total += requests
            print(f"{page.stem}: {requests:,} requests decided as the script says")
        except Wrong as problem:
            failed += 1
            print(f"{page.stem}: {problem}")
    for file in sorted(folder.iterdir()):
        if file.suffix != ".md" and not file.with_suffix(".md").exists():
            failed += 1
            print(f"{file.name}: has no page")
    print(f"{len(pages)} examples, {total:,} requests, {failed} problems")
    return 1 if failed or not total else 0


if __name__ == "__main__":
    sys.exit(main())

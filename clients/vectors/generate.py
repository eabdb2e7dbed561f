#!/usr/bin/env python3
"""Writes the vectors: clients/vectors/*.json.

    clients/vectors/generate.py            writes the files
    clients/vectors/generate.py --check    says which files differ; status 1 if one does

Each case of cases/*.py is a response, and what it means by its sender's documents. What follows for a
client is computed by oracle.py.
"""
import argparse
import importlib
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

from oracle import expect  # noqa: E402

FILES = ("retry_after", "ietf", "x_ratelimit", "github", "language_models", "discord", "sluice", "caller",
         "contradictory", "garbage")
NOW_MS = 1795953600000  # 2026-11-29T12:00:00Z
CALL = {"now_ms": NOW_MS, "method": "GET", "idempotency_key": False, "attempt": 1, "max_attempts": 5,
        "deadline_ms": None, "cap_ms": 60000, "base_ms": 500, "jitter_percent": 20, "headroom": 0}
MEANING = {"throttled": False, "never": False, "retry_after_ms": None, "retry_after_source": None, "items": (),
           "items_source": None, "floor_ms": 0, "bucket": None, "global": False}


def case(name, why, status, fields, meaning=None, call=None, body=None):
    """One case. `fields` is a dict, or a list of pairs if a field comes twice. `meaning` overrides MEANING:

    throttled           the server did not serve this request because of a limit
    never               and waiting does not help
    retry_after_ms      the time that Retry-After or its like says, if it is readable and not zero
    items               the quotas of the field family that counts: remaining units, ms until the reset
    floor_ms            the least back-off that the sender's documents demand
    bucket, global      the bucket's name in the response; whether the limit is for all buckets of the host
    """
    meaning, call = {**MEANING, **(meaning or {})}, {**CALL, **(call or {})}
    unknown = (meaning.keys() - MEANING.keys()) | (call.keys() - CALL.keys())
    if unknown:
        raise ValueError(f"{name}: {unknown}")
    pairs = [list(pair) for pair in (fields.items() if isinstance(fields, dict) else fields)]
    return {"name": name, "why": why, "response": {"status": status, "fields": pairs, "body": body}, "call": call,
            "expect": expect(meaning, call, status)}


def stated(milliseconds, source="retry-after", **more):
    """Throttled, with a time to wait."""
    return {"throttled": True, "retry_after_ms": milliseconds, "retry_after_source": source, **more}


def quota(source, *pairs, **more):
    """Quotas of one family: pairs of remaining units and milliseconds until the reset (None: unknown)."""
    return {"items": [{"remaining": r, "reset_ms": t} for r, t in pairs], "items_source": source, **more}


def text_of(name):
    module = importlib.import_module("cases." + name)
    cases = list(module.CASES)
    if len({c["name"] for c in cases}) != len(cases):
        raise ValueError(f"{name}: two cases have one name")
    lines = [json.dumps(c, ensure_ascii=False) for c in cases]
    return '{"sources": %s,\n "cases": [\n%s\n]}\n' % (json.dumps(module.SOURCES, ensure_ascii=False),
                                                       ",\n".join(lines))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    differ = count = 0
    for name in FILES:
        path, text = HERE / (name + ".json"), text_of(name)
        count += len(json.loads(text)["cases"])
        if not check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            print(f"{path.name} is not what generate.py writes")
            differ = 1
    print(f"{count} cases in {len(FILES)} files")
    return differ


if __name__ == "__main__":
    sys.modules["generate"] = sys.modules["__main__"]
    sys.exit(main())

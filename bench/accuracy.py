#!/usr/bin/env python3
"""How far each algorithm is from the truth on real traffic: the tables of docs/accuracy.md.

  bench/accuracy.py SLUICE LOG[,KEY[,TITLE]]...      e.g. access.log.gz  calls.csv,,calls

KEY is the attribute that tells clients apart (ip by default; empty: all are one), TITLE what the
tables call the log. For each log
and window, limits are taken from the log itself: what 1 key in 100 exceeds, and a half and a
quarter of it; of a log with one key, 90, 75 and 50 % of its peak. Every rule is in shadow mode,
so that none changes what another sees. Everything is counted by `sluice replay --compare --json`.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

WINDOWS = ["10s", "1m", "10m", "1h"]
SEGMENTS = [1, 8, 16, 24, 32, 48, 64]  # 1 is the two-counter window.
PLAIN = ["fixed_window", "sliding_window_counter", "sliding_window, 48 segments",
         "sliding_window, 48 segments, strict", "token_bucket = gcra, burst = limit"]
SHORT = ["fixed_window", "sliding_window_counter", "sliding_window", "the same, strict", "token_bucket"]


def run(*words):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def limits_of(sluice, log, key, window):
    found = run(sluice, "suggest", "--json", "--key", key or ",", "--window", window, log)["suggestions"][0]
    if found["keys"] == 0:
        sys.exit(f"{log}: no request has the attribute {key}")
    if found["keys"] == 1:
        limits = [found["highest_peak"] * part // 100 for part in (90, 75, 50)]
    else:
        limit = found["limits"][0]["limit"]
        limits = [limit, limit // 2, limit // 4]
    return sorted({limit for limit in limits if limit >= 4}, reverse=True), found["keys"]


def compare(sluice, log, key, window, limits):
    """By limit: the rows of the comparison by name, with those of every number of segments."""
    rules = "rules:\n"
    for limit in limits:
        for segments in SEGMENTS:
            rules += (f"  - {{id: l{limit}_s{segments}, key_pattern: \"{f'{key}:{{{key}}}' if key else 'all'}\", "
                      f"algorithm: sliding_window, segments: {segments}, limit: {limit}, window: {window}, "
                      "mode: shadow}\n")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "rules.yaml")
        file.write_text(rules, encoding="utf-8")
        report = run(sluice, "replay", "--rules", file, "--compare", "--json", log)
    rows = {limit: {} for limit in limits}
    for rule in report["rules"]:
        limit = int(rule["name"][1:].split("_")[0])
        for row in rule["comparison"]:
            rows[limit][row["algorithm"]] = row
    return rows


def share(row, truth):
    errors = row.get(truth)
    if errors is None:
        return None
    return 100 * (errors["wrongly_allowed"] + errors["wrongly_denied"]) / row["requests"]


def percent(value):
    if value is None:
        return ""
    return "0" if value == 0 else f"{value:.2f}" if value >= 0.01 else "< 0.01"


def beside_two_counters(cases):
    """Wrong decisions by number of segments, divided by those of the two-counter window."""
    def wrong(rows, segments):
        errors = rows[f"sliding_window, {segments} segments"]["as_counter"]
        return errors["wrongly_allowed"] + errors["wrongly_denied"]
    lines = []
    for name in dict.fromkeys(name for name, *_ in cases):
        base, *others = (sum(wrong(rows, n) for log, _, _, rows in cases if log == name) for n in SEGMENTS)
        lines.append([name, f"{base:,}"] + [f"{count / base:.3f}" if base else "" for count in others])
    ratios = [[wrong(rows, n) / wrong(rows, 1) for n in SEGMENTS[1:]] for *_, rows in cases if wrong(rows, 1)]
    by_segments = [sorted(column) for column in zip(*ratios)]
    lines.append(["**limits at a tenth or less**", f"{len(ratios)} limits"]
                 + [str(sum(ratio <= 0.1 for ratio in column)) for column in by_segments])
    lines.append(["**median of all limits**", ""] + [f"{column[len(column) // 2]:.3f}" for column in by_segments])
    lines.append(["**worst limit**", ""] + [f"{column[-1]:.2f}" for column in by_segments])
    return lines


def table(head, lines):
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head))
    for line in lines:
        print("| " + " | ".join(line) + " |")
    print()


def main():
    sluice = sys.argv[1]
    cases = []  # (log, keys, window, limit, rows)
    for word in sys.argv[2:]:
        log, *rest = word.split(",", 2)
        key = rest[0] if rest else "ip"
        name = rest[1] if len(rest) > 1 else pathlib.Path(log).name.removesuffix(".gz")
        for window in WINDOWS:
            limits, keys = limits_of(sluice, log, key, window)
            for limit, rows in compare(sluice, log, key, window, limits).items():
                cases.append((name, window, limit, rows))
    print("### Segments, beside the two-counter window\n")
    table(["log", "wrong decisions of the two-counter window"] + [str(n) for n in SEGMENTS[1:]],
          beside_two_counters(cases))
    for truth, title in (("as_counter", "All requests counted"),
                         ("against_own_admissions", "Own admissions"),
                         ("against_everything", "Against an exact count of everything")):
        print(f"### {title}\n")
        names = list(zip(PLAIN, SHORT))
        if truth == "as_counter":
            names = [n for n in names if not n[1].startswith("token")]
        if truth == "against_everything":
            names.append(("sliding_window_log", "sliding_window_log"))
        table(["log", "limit", "denied, exactly"] + [f"`{short}`" if " " not in short else short for _, short in names],
              [[name, f"{limit} per {window}",
                percent(100 * rows["sliding_window_log"]["denied"] / rows["sliding_window_log"]["requests"])]
               + [percent(share(rows[full], truth)) for full, _ in names]
               for name, window, limit, rows in cases])
    for truth, title in (("as_counter", "Segments, all requests counted"),
                         ("against_own_admissions", "Segments, own admissions")):
        print(f"### {title}\n")
        lines = [[name, f"{limit} per {window}"]
                 + [percent(share(rows[f"sliding_window, {n} segments"], truth)) for n in SEGMENTS]
                 for name, window, limit, rows in cases]
        for label, pick in (("median", lambda v: sorted(v)[len(v) // 2]), ("worst", max)):
            lines.append([f"**{label}**", ""] + [
                percent(pick([share(rows[f"sliding_window, {n} segments"], truth) for *_, rows in cases]))
                for n in SEGMENTS])
        table(["log", "limit"] + [str(n) for n in SEGMENTS], lines)


if __name__ == "__main__":
    main()

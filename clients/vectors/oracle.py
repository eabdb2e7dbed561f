"""What a client must do, from what a response means and what its caller allows.

This file does not read header fields. A case states by hand what its response means, as the documents
of the sender define it, and this file does the arithmetic with whole milliseconds. A client does both:
so a client that reads a field wrongly, or computes wrongly, differs from the vectors.
"""
DAY_MS = 24 * 3600 * 1000
MOST_MS = 2 ** 53 - 1  # Longer times are this time.
IDEMPOTENT = ("GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE")


def quota_wait(items, headroom):
    """Milliseconds until every used-up quota is available again; 0 if none is used up, or none says when."""
    return max([item["reset_ms"] or 0 for item in items if item["remaining"] <= headroom], default=0)


def expect(meaning, call, status):
    """meaning: see generate.py, `case`. call: see README.md, *The caller*."""
    where = {"bucket": meaning["bucket"], "global": meaning["global"]}
    if not meaning["throttled"]:
        hold = quota_wait(meaning["items"], call["headroom"])
        return {"action": "proceed", "reason": "used_up" if hold else "ok",
                "source": meaning["items_source"] if hold else None, "wait_ms": None,
                "hold_ms": min(hold, DAY_MS), **where}
    if meaning["never"]:
        return {"action": "give_up", "reason": "never", "source": None, "wait_ms": None, "hold_ms": 0, **where}

    stated, source = meaning["retry_after_ms"], meaning["retry_after_source"]
    if not stated:
        stated, source = quota_wait(meaning["items"], 0), meaning["items_source"]
    if not stated:
        stated = max(call["base_ms"], meaning["floor_ms"]) * 2 ** (call["attempt"] - 1)
        stated, source = min(stated, max(call["cap_ms"], meaning["floor_ms"])), "backoff"
    stated = min(stated, MOST_MS)
    answer = {"source": source, "wait_ms": None, "hold_ms": min(stated, DAY_MS), **where}
    repeatable = status != 503 or call["method"] in IDEMPOTENT or call["idempotency_key"]
    if call["attempt"] >= call["max_attempts"]:
        return {"action": "give_up", "reason": "attempts", **answer}
    if not repeatable:
        return {"action": "give_up", "reason": "unsafe", **answer}
    if stated > call["cap_ms"]:
        return {"action": "give_up", "reason": "cap", **answer}
    if call["deadline_ms"] is not None and stated >= call["deadline_ms"]:
        return {"action": "give_up", "reason": "deadline", **answer}
    latest = stated + stated * call["jitter_percent"] // 100
    if call["deadline_ms"] is not None:
        latest = min(latest, call["deadline_ms"])
    answer["wait_ms"] = [stated, latest]
    return {"action": "wait", "reason": "server" if source != "backoff" else "backoff", **answer}

"""What a service answers to a request that is denied: the same from every framework."""

from __future__ import annotations

import http
import json
from typing import List, Tuple

from ._decision import Decision

CONTENT_TYPE = "application/problem+json"


def denial(decision: Decision) -> Tuple[int, List[Tuple[str, str]], bytes]:
    """Status, header fields and body (RFC 9457). The rules' names are not in it, other than in the limit fields."""
    phrase = http.HTTPStatus(decision.status).phrase
    body = {"type": "about:blank", "title": phrase, "status": decision.status}
    if decision.reason:
        body["reason"] = decision.reason
    data = json.dumps(body).encode()
    fields = [*decision.headers.items(), ("Content-Type", CONTENT_TYPE), ("Content-Length", str(len(data))),
              ("Cache-Control", "no-store")]
    return decision.status, fields, data

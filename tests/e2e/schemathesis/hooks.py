"""Values that no schema can make up: what the daemon gave out. TOKENS is {format: [token, ...]}."""
import json
import os

import hypothesis.strategies as st
import schemathesis

TOKENS = json.loads(os.environ["TOKENS"])
MEMBERS = {"id": "hold", "receipt": "receipt", "reservation": "reservation"}

for name, tokens in TOKENS.items():
    schemathesis.openapi.format(name, st.sampled_from(tokens))


def with_tokens(node):
    """An example with tokens of this daemon in place of those that the description shows."""
    if isinstance(node, list):
        return [with_tokens(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {key: TOKENS[MEMBERS[key]][0] if key in MEMBERS and isinstance(value, str)
            else with_tokens(value) for key, value in node.items()}


@schemathesis.hook
def before_load_schema(context, raw_schema):
    for item in raw_schema["paths"].values():
        for operation in item.values():
            body = operation.get("requestBody", {}) if isinstance(operation, dict) else {}
            for media in body.get("content", {}).values():
                for member in ("example", "examples"):
                    if member in media:
                        media[member] = with_tokens(media[member])


@schemathesis.hook
def filter_body(context, body):
    """Leaves out what is wrong in ways that no schema can say: an attribute inside and outside of
    `attributes`, which is given twice; a rule's id that is not the one in the path."""
    if not isinstance(body, dict):
        return True
    nested = body.get("attributes")
    is_twice = isinstance(nested, dict) and bool(set(body) & set(nested))
    return not is_twice and not ("id" in body and ("algorithm" in body or "action" in body))

"""Existing ids for random requests, and what Schemathesis reports although the api keeps its contract.

Each exclusion has its reason.
Schemathesis loads this file (`hooks` in schemathesis.toml). An exclusion names what it tolerates as narrowly as the
answer allows, so that a new failure of the same operation is still reported.
"""

from __future__ import annotations

import json
import os
import pathlib
import random
import re
from typing import Any

import schemathesis

# Valid data that is refused: the answer must be one of these, by its status and code.
REFUSALS: dict[tuple[int, str], str] = {
    (400, "idempotency_key_invalid"): "its second form is a string of RFC 8941, which has escapes",
    (400, "path_invalid"): "names of 255 bytes, no `..`: JSON Schema counts characters, and knows no segments",
    (410, "sandbox_reference_revoked"): "the sandbox exists, and access to it has ended",
    (410, "cursor_expired"): "the events after this place are deleted",
    (412, "precondition_failed"): "a generated If-Match or If-None-Match does not fit the resource",
    (413, "body_too_large"): "a document cannot publish the bytes of a whole body",
    (422, "digest_mismatch"): "a generated checksum is not the one of the generated content",
    (422, "idempotency_key_reused"): "a generated key repeats with another body",
    (422, "route_weights_invalid"): "rule between the items of a list: weights sum to 100",
    (507, "workspace_full"): "the files of earlier requests fill the workspace",
}

# Valid data that is refused with details: each detail must have one of these codes. Codes that the document publishes
# as keywords, such as `too_short` for minLength, are missing on purpose: they would be faults of the document.
RULES: dict[str, str] = {
    "address_not_allowed": "rule of an address: networks that nobody may name",
    "ambiguous": "rule between fields: they choose between two forms",
    "beyond_caller": "a token cannot give more than its maker has",
    "characters": "no text may contain NUL; a pattern at each text would hide its own rules",
    "conflict": "rule between fields: they exclude each other",
    "differs": "rule between the body and the path",
    "duplicate": "rule between the items of a list",
    "exactly_one": "rule between fields: one of them must be given",
    "host": "rule of a pattern of hosts that needs code",
    "immutable": "rule between the body and the stored resource",
    "invalid": "rule of a value that needs code: Unicode forms, currencies, durations",
    "invalid_url": "rule of an address that needs code: schemes, networks, visible ASCII",
    "invalid_value": "rule of an argument that the operator's engine declares",
    "missing": "rule between the body and the stored resource",
    "not_allowed": "rule between fields, or a choice of the operator",
    "not_applicable": "rule between fields: one has no effect with the other",
    "no_base": "rule between the body and the stored resource",
    "not_base": "rule between the body and the stored resource",
    "not_declared": "an argument that the operator's engine does not declare",
    "order": "rule between fields or items: one must come before the other",
    "other_product": "rule between the body and the stored resource",
    "protected": "rule between the body and the stored resource",
    "range": "numbers of free JSON have a range that Postgres prints shortly",
    "required": "rule between fields: one is required with the other; fields that are always required are generated",
    "sum": "rule between the items of a list",
    "unknown": "the value names something that does not exist, such as a target of the operator",
    "url_not_allowed": "an address that the operator does not allow",
    "unsupported": "rule between fields, such as a statistic that the metric does not have",
}

# Details with a code that the document publishes elsewhere, by the last name of the field: a schema cannot have their
# limits.
LIMITS: dict[tuple[str, str], str] = {
    ("base_urls", "max_items"): "counted together with `base_url`",
    ("base_urls", "unique"): "compared with `base_url`, and without a final slash",
    ("bytes_limit", "max"): "chosen by the operator",
    ("bytes_limit", "min"): "not below the bytes in use",
    ("content", "format"): "only if `encoding` is base64",
    ("cursor", "type"): "opaque: only a `next_cursor` of the same list is valid",
    ("expires_at", "max"): "counted from the present",
    ("expires_at", "min"): "counted from the present",
    ("expires_in", "max"): "a text such as 30d",
    ("expires_in", "min"): "a text such as 30d",
    ("from", "max"): "the longest span depends on `step`",
    ("hosts", "min_items"): "depends on `allow`",
    ("keep_previous_seconds", "min"): "depends on the bake",
    ("labels", "max_entries"): "counted together with the stored ones",
    ("max_age_seconds", "min"): "not below `min_duration_seconds`",
    ("max_replicas", "min"): "not below `min_replicas`",
    ("owner", "max"): "depends on the caller",
    ("p95", "min"): "not below `p50`",
    ("provider", "enum"): "the provider of the stored reference",
    ("scopes", "min_items"): "only if access is granted",
    ("slos", "unique"): "compared by metric and statistic",
    ("step", "min"): "depends on `from` and `to`",
    ("threshold", "max"): "depends on the metric: a share is at most 1",
    ("traffic_percent", "max"): "the limit of the deployment's policy",
}


# The token of this run. Without it, every later request would be a 401, and nothing would be tested.
OWN_TOKEN = "tok_" + os.environ["SLIPWAY_TOKEN"].split("_")[1]


# Requests that would succeed, by operation id: ids that exist, with bodies that fit them. Generated ids exist nowhere, and
# no document can say which of two ids belong together.
VALID: dict[str, list[dict[str, Any]]] = json.loads(pathlib.Path(os.environ["SLIPWAY_VALID_REQUESTS"]).read_text())
CHOICE = random.Random(os.environ["SLIPWAY_SEED"])


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    """Gives some valid requests an existing id, and keeps the token of this run from being revoked or rotated."""
    if is_generated(case):
        use_valid_request(case)
    if case.path.startswith("/api/v1/tokens/") and case.path_parameters.get("id") == OWN_TOKEN:
        case.path_parameters["id"] = "tok_of_this_run"


def is_generated(case: Any) -> bool:
    """Returns whether a case is valid and not part of a sequence, whose ids come from earlier answers."""
    meta = case.meta
    return meta is not None and meta.generation.mode.is_positive and meta.phase.name.value == "fuzzing"


def use_valid_request(case: Any) -> None:
    requests = VALID.get(case.operation.definition.raw["operationId"], [])
    if not requests or CHOICE.random() < 0.5:
        return
    request = CHOICE.choice(requests)
    case.path_parameters.update(request.get("params", {}))
    if "body" in request and CHOICE.random() < 0.5:
        case.body = request["body"]
        case.headers.update(request.get("headers", {}))
        case.query.update(request.get("query", {}))


@schemathesis.hook
def filter_failure(context: Any, failure: Any, case: Any, response: Any) -> bool:
    """Returns whether a failure counts."""
    kind = type(failure).__name__
    if kind == "RejectedPositiveData":
        return not is_known_refusal(case, response)
    # The instances of valid requests are rows that no worker has started, so nothing reads their output.
    if kind == "ServerError":
        return code_of(response) != (503, "logs_unavailable")
    # OpenAPI 3.1 describes a stream as one text. Schemathesis compares each event of it with that schema.
    if kind == "JsonSchemaError" and response.headers.get("content-type", [""])[0].startswith("text/event-stream"):
        return False
    # The deletion of a deployment is an operation: the deployment, with its parts, exists until that has succeeded.
    if kind == "UseAfterFree":
        return failure.operation != "DELETE /api/v1/deployments/{name}"
    # The revoked reference is found before the body is read, as a missing one is.
    if kind == "AcceptedNegativeData":
        return code_of(response) != (410, "sandbox_reference_revoked")
    return True


def code_of(response: Any) -> tuple[int, str] | None:
    """Returns the status and the code of an error."""
    try:
        return response.status_code, response.json()["error"]["code"]
    except (ValueError, KeyError, TypeError):
        return None


def is_known_refusal(case: Any, response: Any) -> bool:
    known = code_of(response)
    if known is None:
        return False
    if known in REFUSALS:
        return True
    # The api refuses this name at any depth, because a program that copies objects could change their prototype.
    if known == (400, "invalid_json") and "__proto__" in json.dumps(case.body, default=str):
        return True
    # Other programs would read a larger integer as another number (RFC 8259, section 6).
    if known == (400, "invalid_parameter") and has_large_integer(case.body):
        return True
    details = response.json()["error"].get("details") or []
    return len(details) > 0 and all(is_rule(detail) for detail in details)


def has_large_integer(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(has_large_integer, value.values()))
    if isinstance(value, list):
        return any(map(has_large_integer, value))
    return isinstance(value, int | float) and abs(value) >= 2**53


def is_rule(detail: dict[str, Any]) -> bool:
    name = re.sub(r"\[\d+\]$", "", str(detail.get("field"))).split(".")[-1]
    return detail.get("code") in RULES or (name, detail.get("code")) in LIMITS

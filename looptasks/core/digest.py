"""A digest: the short name of a content. Equal digests mean equal contents."""

import hashlib
import json
from typing import Any

MISSING = "missing"
# Of a content that is only supposed to be another one.
SUPPOSED = "supposed"
# Made once: each entry of an artifact has its digest taken.
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def of_bytes(data: bytes) -> str:
    """Return the digest of some bytes."""
    return hashlib.sha256(data).hexdigest()


def of_value(value: Any) -> str:  # noqa: ANN401 - whatever JSON can hold
    """Return the digest of a JSON value, however its keys are ordered."""
    return of_bytes(_ENCODER.encode(value).encode())

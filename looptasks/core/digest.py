"""A digest: the short name of a content. Equal digests mean equal contents."""

import hashlib
import json
from typing import Any

MISSING = "missing"
# Of a content that is only supposed to be another one.
SUPPOSED = "supposed"


def of_bytes(data: bytes) -> str:
    """Return the digest of some bytes."""
    return hashlib.sha256(data).hexdigest()


def of_value(value: Any) -> str:  # noqa: ANN401 - whatever JSON can hold
    """Return the digest of a JSON value, however its keys are ordered."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return of_bytes(text.encode())

"""Lines without secrets: events stay events, and nothing is hidden less."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.secret import HIDDEN, masked
from looptasks.core.secret_lines import masked_lines
from tests.core.test_secret import FRAGMENTS, NAMED, SPEAKING, token

TEXTS = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=5)).map("".join)
KEYS = st.sampled_from(["text", "cmd", "password", "api_key", "url", "n"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner),
    max_leaves=6,
)
EVENTS = st.dictionaries(KEYS, VALUES, min_size=1)


def shape(value: Any) -> Any:
    """Return what is left of a value without its texts and numbers."""
    if isinstance(value, dict):
        return {key: shape(one) for key, one in value.items()}
    return [shape(one) for one in value] if isinstance(value, list) else None


@given(st.lists(EVENTS, min_size=1, max_size=3), st.booleans())
def test_events_keep_their_shape_whatever_is_hidden(
    events: list[Any], ascii_only: bool
) -> None:
    lines = [json.dumps(event, ensure_ascii=ascii_only) for event in events]

    hidden = masked_lines("\n".join(lines)).split("\n")

    assert [shape(json.loads(line)) for line in hidden] == [shape(e) for e in events]


@pytest.mark.parametrize("form", SPEAKING + NAMED)
@given(secret=token(8))
def test_no_secret_in_an_event_is_left(form: str, secret: str) -> None:
    said = {"type": "text", "text": f"it is {form.format(secret)} now", "cost": 1}

    hidden = masked_lines(json.dumps(said))

    assert secret not in hidden
    assert (json.loads(hidden)["type"], json.loads(hidden)["cost"]) == ("text", 1)


@pytest.mark.parametrize("key", ["password", "apiKey", "access_token", "secret"])
@pytest.mark.parametrize("value", ["correct horse", "x", 12345])
def test_a_value_is_hidden_by_its_key(key: str, value: Any) -> None:
    line = json.dumps({key: value}, separators=(",", ":"))

    assert json.loads(masked_lines(line)) == {key: HIDDEN}


@given(TEXTS)
def test_plain_lines_are_masked_together(text: str) -> None:
    plain = "\n".join(f"> {line}" for line in text.split("\n"))

    assert masked_lines(plain) == masked(plain)


@given(EVENTS, token(8))
def test_a_known_secret_is_in_no_event(event: Any, secret: str) -> None:
    line = json.dumps({**event, "said": f"a{secret}b"})

    assert secret not in masked_lines(line, known=[secret])

"""What real agents print is read rightly; nothing they print can fool or break us."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.agent import Tokens
from looptasks.core.claude_stream import CLAUDE
from looptasks.core.codex_stream import CODEX
from looptasks.core.gemini_stream import GEMINI
from looptasks.core.opencode_stream import OPENCODE
from looptasks.core.process import Ended, How
from looptasks.core.reading import Dialect, Reading, complained, fed
from looptasks.core.verdict import verdict

SAMPLES = Path(__file__).parent / "streams"
DIALECTS = {d.name: d for d in (CLAUDE, CODEX, GEMINI, OPENCODE)}
VERDICTS = {
    "claude-ok": "ok",
    "claude-limit": "limit",
    "claude-server": "transient",
    "claude-key": "error",
    "claude-model": "error",
    "claude-too-long": "error",
    "claude-cut": "transient",
    "claude-garbage": "garbled",
    "claude-denied": "denied",
    "claude-aborted": "interrupted",
    "codex-ok": "ok",
    "codex-limit": "limit",
    "codex-usage-limit": "limit",
    "codex-server": "transient",
    "codex-key": "error",
    "codex-model": "error",
    "codex-too-long": "error",
    "codex-stall": "transient",
    "codex-cut": "transient",
    "codex-denied": "denied",
    "gemini-ok": "ok",
    "gemini-limit": "limit",
    "gemini-server": "transient",
    "gemini-key": "error",
    "gemini-model": "error",
    "gemini-cut": "transient",
    "gemini-garbage": "garbled",
    "gemini-denied": "denied",
    "opencode-ok": "ok",
    "opencode-key": "error",
    "opencode-denied": "denied",
}
GOOD = [name for name in VERDICTS if name.endswith("-ok")]


def ended(how: How = "exit", code: int | None = 0, signal: int | None = None) -> Ended:
    return Ended(how, code, signal, "", "", 1.0)


def dialect_of(name: str) -> Dialect:
    return DIALECTS[name.partition("-")[0]]


def read(dialect: Dialect, stdout: bytes, stderr: str = "") -> Reading:
    reading = Reading()
    for line in stdout.split(b"\n"):
        reading = fed(reading, line, dialect)
    for words in stderr.split("\n"):
        reading = complained(reading, words, dialect)
    return reading


def sample(name: str) -> Reading:
    errors = SAMPLES / f"{name}.stderr"
    stderr = errors.read_text() if errors.exists() else ""
    return read(dialect_of(name), (SAMPLES / f"{name}.jsonl").read_bytes(), stderr)


@pytest.mark.parametrize(("name", "expected"), VERDICTS.items())
@pytest.mark.parametrize("code", [0, 1, 173])
def test_the_verdict_comes_from_the_stream_whatever_the_exit_code(
    name: str, expected: str, code: int
) -> None:
    assert verdict(sample(name), ended(code=code))[0] == expected


@pytest.mark.parametrize("name", GOOD)
def test_a_good_answer_is_read_in_full(name: str) -> None:
    reading = sample(name)
    assert reading.text == "All done."
    assert reading.tokens == Tokens(200, 40, 0)
    assert reading.session_id
    assert (reading.cost_usd is None) == name.startswith(("codex", "gemini"))
    assert not reading.garbage


@pytest.mark.parametrize("name", [n for n in VERDICTS if VERDICTS[n] == "error"])
def test_a_lasting_error_names_its_fix(name: str) -> None:
    assert "\n  fix: " in verdict(sample(name), ended(code=1))[1]


@pytest.mark.parametrize("name", ["claude-denied", "opencode-denied", "gemini-denied"])
def test_the_refused_tool_is_named(name: str) -> None:
    assert "write" in verdict(sample(name), ended())[1].lower()


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("how", ["timeout", "idle", "interrupted", "orphaned"])
def test_an_answer_that_was_complete_before_the_end_is_not_paid_for_twice(
    name: str, how: How
) -> None:
    assert verdict(sample(name), ended(how, None, 9))[0] == "ok"


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("timeout", "timeout"),
        ("idle", "hung"),
        ("interrupted", "interrupted"),
        ("orphaned", "interrupted"),
        ("unstartable", "error"),
        ("exit", "garbled"),
    ],
)
@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=lambda d: d.name)
def test_silence_is_judged_by_how_it_ended(
    dialect: Dialect, how: How, expected: str
) -> None:
    assert verdict(read(dialect, b""), ended(how))[0] == expected


def test_a_limit_that_it_waits_out_is_a_limit_and_no_hang() -> None:
    found = verdict(sample("opencode-limit"), ended("idle", None, 15))
    assert found[0] == "limit"
    assert "Rate limit reached" in found[1]


def test_a_signal_from_elsewhere_is_an_interruption() -> None:
    half = b'{"type": "thread.started", "thread_id": "x"}'
    found = verdict(read(CODEX, half), ended("exit", None, 15))
    assert found == ("interrupted", "ended by signal 15 from elsewhere")


def test_warnings_of_codex_are_no_failure() -> None:
    warned = b'{"type": "error", "message": "Reconnecting... 1/5"}\n'
    good = (SAMPLES / "codex-ok.jsonl").read_bytes()
    assert verdict(read(CODEX, warned + good), ended())[0] == "ok"


def test_claude_says_live_that_it_waits_for_a_rate_limit() -> None:
    first = (SAMPLES / "claude-limit.jsonl").read_bytes().split(b"\n")[:2]
    reading = read(CLAUDE, b"\n".join(first))
    assert reading.waiting == "rate limit, next try in 1s"
    assert reading.retries == 1


def test_a_rejected_limit_tells_when_it_ends() -> None:
    info = b'{"status": "rejected", "resetsAt": 1795000000}'
    line = b'{"type": "rate_limit_event", "rate_limit_info": %s}' % info
    assert read(CLAUDE, line).resets_at == 1795000000


@pytest.mark.parametrize("name", GOOD)
def test_the_last_action_names_the_tool_and_its_target(name: str) -> None:
    lines = (SAMPLES / f"{name}.jsonl").read_bytes().split(b"\n")
    seen = {
        read(dialect_of(name), b"\n".join(lines[:n])).action for n in range(len(lines))
    }
    assert any("a.txt" in action for action in seen)


@given(name=st.sampled_from(GOOD), data=st.data())
def test_a_truncated_stream_is_never_good(name: str, data: st.DataObject) -> None:
    whole = (SAMPLES / f"{name}.jsonl").read_bytes().rstrip(b"\n")
    cut = data.draw(st.integers(0, len(whole) - 1))
    hows: list[How] = ["exit", "timeout", "idle", "interrupted", "orphaned"]
    how = data.draw(st.sampled_from(hows))
    code = data.draw(st.sampled_from([0, 1, None]))
    assert verdict(read(dialect_of(name), whole[:cut]), ended(how, code))[0] != "ok"


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner)
    ),
    max_leaves=6,
)


@given(dialect=st.sampled_from(list(DIALECTS.values())), data=st.binary(max_size=300))
def test_no_bytes_can_break_a_reader(dialect: Dialect, data: bytes) -> None:
    reading = read(dialect, data, data.decode("utf-8", "replace"))
    assert verdict(reading, ended())[0] != "ok"


@given(name=st.sampled_from(list(VERDICTS)), value=_JSON, data=st.data())
def test_no_value_in_any_place_can_break_a_reader(
    name: str, value: object, data: st.DataObject
) -> None:
    import json  # noqa: PLC0415

    lines = (SAMPLES / f"{name}.jsonl").read_bytes().splitlines()
    events = [json.loads(line) for line in lines]
    place = data.draw(st.sampled_from(events))
    while True:
        key = data.draw(st.sampled_from(sorted(place)))
        inner = place[key]
        if not isinstance(inner, dict) or not inner or data.draw(st.booleans()):
            break
        place = inner
    place[key] = value
    changed = "\n".join(json.dumps(event) for event in events).encode()
    verdict(read(dialect_of(name), changed), ended())


@given(name=st.sampled_from(GOOD), junk=st.binary(max_size=40), data=st.data())
def test_garbage_between_the_events_changes_nothing(
    name: str, junk: bytes, data: st.DataObject
) -> None:
    lines = (SAMPLES / f"{name}.jsonl").read_bytes().splitlines()
    at = data.draw(st.integers(0, len(lines)))
    mixed = [*lines[:at], b"\xff" + junk.replace(b"\n", b""), *lines[at:]]
    reading = read(dialect_of(name), b"\n".join(mixed))
    assert verdict(reading, ended())[0] == "ok"
    assert reading.garbage == 1


@pytest.mark.parametrize(
    ("how", "expected"),
    [("timeout", "timeout"), ("idle", "hung"), ("interrupted", "interrupted")],
)
def test_an_agent_that_says_it_was_aborted_was_so_for_our_own_reason(
    how: How, expected: str
) -> None:
    found, reason = verdict(sample("claude-aborted"), ended(how))
    assert found == expected
    assert "ede_diagnostic" not in reason

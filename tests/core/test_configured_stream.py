"""An agent of the user's own is read as its description says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.agent import Tokens
from looptasks.core.configured_stream import configured
from looptasks.core.process import Ended
from looptasks.core.reading import Reading, fed
from looptasks.core.verdict import verdict
from looptasks.errors import DeclarationError

MINE = configured(
    "mine",
    {
        "text": "result.answer",
        "cost": "total_cost_usd",
        "input": "usage.in",
        "output": "usage.out",
        "error": "error",
        "status": "code",
        "session": "id",
    },
)
ENDED = Ended("exit", 0, None, "", "", 1.0)


def read(*lines: str) -> Reading:
    reading = Reading()
    for line in lines:
        reading = fed(reading, line, MINE)
    return reading


def test_each_fact_is_found_at_its_path() -> None:
    reading = read(
        '{"id": "s1", "usage": {"in": 5, "out": 7}}',
        '{"result": {"answer": "done"}, "total_cost_usd": 0.5}',
    )
    assert (reading.text, reading.cost_usd, reading.session_id) == ("done", 0.5, "s1")
    assert reading.tokens == Tokens(5, 7)
    assert verdict(reading, ENDED)[0] == "ok"


def test_an_answer_without_its_text_is_not_good() -> None:
    assert verdict(read('{"total_cost_usd": 0.5}'), ENDED)[0] == "garbled"


def test_an_error_is_judged_by_its_status_and_words() -> None:
    assert verdict(read('{"error": "no", "code": 429}'), ENDED)[0] == "limit"
    assert verdict(read('{"error": {"message": "bad api key"}}'), ENDED)[0] != "ok"
    assert (
        verdict(read('{"error": false, "result": {"answer": "a"}}'), ENDED)[0] == "ok"
    )


def test_with_a_path_for_the_end_the_text_alone_is_not_the_end() -> None:
    dialect = configured("mine", {"text": "t", "done": "d"})
    half = fed(Reading(), '{"t": "half"}', dialect)
    assert verdict(half, ENDED)[0] == "garbled"
    assert verdict(fed(half, '{"d": true}', dialect), ENDED)[0] == "ok"


def test_a_description_that_cannot_be_is_refused_with_a_fix() -> None:
    with pytest.raises(DeclarationError, match="did you mean `text`"):
        configured("mine", {"txt": "result"})
    with pytest.raises(DeclarationError, match="where the answer's text is"):
        configured("mine", {"cost": "total"})


@given(st.binary(max_size=200))
def test_no_bytes_can_break_it(data: bytes) -> None:
    verdict(fed(Reading(), data, MINE), ENDED)

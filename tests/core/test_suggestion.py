from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.suggestion import choice, did_you_mean, suggestion

RULES = ("fixed-n", "plateau", "all-items")


def test_a_slip_of_the_finger_finds_the_word() -> None:
    assert suggestion("platau", RULES) == "plateau"
    assert did_you_mean("platau", RULES) == " (did you mean `plateau`?)"


def test_the_case_of_letters_does_not_hide_the_word() -> None:
    assert suggestion("PLATEAU", RULES) == "plateau"


def test_a_word_unlike_any_other_gets_no_suggestion() -> None:
    assert suggestion("zzz", RULES) is None
    assert did_you_mean("zzz", RULES) == ""
    assert choice("zzz", RULES) == "use one of `fixed-n`, `plateau`, `all-items`"


@given(st.text(max_size=300), st.lists(st.text(max_size=20), max_size=8))
def test_only_known_words_are_suggested(word: str, known: list[str]) -> None:
    assert suggestion(word, known) in (*known, None)

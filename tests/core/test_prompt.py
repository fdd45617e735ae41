import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.prompt import KNOWN, parts, render, unknown_variables, variables
from looptasks.errors import DeclarationError

SPECIAL = st.text(st.sampled_from("${}XINPUTS.a \n")) | st.sampled_from(
    ["${X}", "$$", "$${GOAL}", "${GOAL}", "${INPUTS.plan}", "\\1", "\\g<0>"]
)


def test_every_variable_of_the_contract_is_known() -> None:
    text = " ".join(f"${{{name}}}" for name in KNOWN)
    assert unknown_variables(text + " ${INPUTS.plan} ${ITEM.name}") == ()


@pytest.mark.parametrize("name", ["GAOL", "goal", "GOAL.x", "INPUT.plan", "_"])
def test_a_name_that_nothing_fills_in_is_unknown(name: str) -> None:
    assert unknown_variables(f"do ${{{name}}}") == (name,)


@pytest.mark.parametrize(
    "text",
    [
        "$HOME",
        "$(date)",
        "${HOME:-x}",
        "${}",
        "$",
        "a$",
        "${",
        "${A",
        "${ GOAL }",
        "$1",
    ],
)
def test_every_other_dollar_stays_as_it_is(text: str) -> None:
    assert variables(text) == ()
    assert render(text, {}) == text


def test_two_dollars_are_one_dollar_and_hide_a_variable() -> None:
    assert render("$$5 $${GOAL} $$$GOAL $$${GOAL}", {"GOAL": "x"}) == (
        "$5 ${GOAL} $$GOAL $x"
    )
    assert variables("$${GOAL}") == ()


def test_stages_and_fields_are_named_after_a_dot() -> None:
    text = "${INPUTS.my-plan.v2} ${ITEM.name} ${INPUTS}"
    assert parts(text, "INPUTS") == ("my-plan.v2",)
    values = {"INPUTS.my-plan.v2": "a", "ITEM.name": "b", "INPUTS": "c"}
    assert render(text, values) == "a b c"


def test_a_known_variable_without_a_value_is_empty() -> None:
    assert render("[${BEAD}]", {}) == "[]"


@pytest.mark.parametrize("text", ["${ITEM.nmae}", "${INPUTS.plan}", "${GAOL}"])
def test_what_nothing_fills_in_is_never_left_in_a_prompt(text: str) -> None:
    with pytest.raises(DeclarationError, match="nothing fills in"):
        render(text, {"ITEM.name": "x"})


@given(SPECIAL)
def test_a_value_is_inserted_as_it_is(value: str) -> None:
    assert render("<${GOAL}|${GOAL}>", {"GOAL": value}) == f"<{value}|{value}>"


@given(st.text())
def test_a_text_with_its_dollars_doubled_renders_to_itself(text: str) -> None:
    assert render(text.replace("$", "$$"), {}) == text


@given(SPECIAL, SPECIAL)
def test_the_variables_found_are_all_that_rendering_needs(a: str, b: str) -> None:
    values = dict.fromkeys(variables(a + b), "")
    assert len(render(a + b, values)) <= len(a + b)

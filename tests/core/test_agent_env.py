"""An agent sees of our environment what it was given, and nothing else."""

from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.agent_env import passed_on

OURS = {
    "PATH": "/bin",
    "HOME": "/home/me",
    "LC_ALL": "C",
    "ANTHROPIC_API_KEY": "one",
    "GITHUB_TOKEN": "two",
}
_ENVIRONMENT = st.dictionaries(st.text(max_size=8), st.text(max_size=4))


def test_minimal_keeps_other_peoples_keys_away() -> None:
    seen = passed_on(OURS, "minimal", ("ANTHROPIC_*",))
    assert seen.keys() == OURS.keys() - {"GITHUB_TOKEN"}


def test_names_are_all_that_is_passed_on_beside_path_and_home() -> None:
    assert passed_on(OURS, ("GITHUB_TOKEN",), ("ANTHROPIC_*",)).keys() == {
        "PATH",
        "HOME",
        "GITHUB_TOKEN",
    }


@given(_ENVIRONMENT, st.lists(st.text(max_size=8)))
def test_nothing_is_invented_or_changed(ours: dict[str, str], names: list[str]) -> None:
    assert passed_on(ours, "inherit") == ours
    assert passed_on(ours, tuple(names)).items() <= ours.items()
    assert passed_on(ours, "minimal").items() <= ours.items()


@given(_ENVIRONMENT, st.lists(st.text(max_size=8).filter(lambda n: n[-1:] != "*")))
def test_what_is_not_named_is_not_seen(ours: dict[str, str], names: list[str]) -> None:
    seen = passed_on(ours, tuple(names))
    assert seen.keys() <= {*names, "PATH", "HOME"}

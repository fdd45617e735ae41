"""The vocabulary here: our own names, those of packages, and the project's agents."""

from looptasks.core.vocabulary import Vocabulary, vocabulary
from looptasks.effects.agent_settings import configured_names


def installed(root: str) -> Vocabulary:
    """Return the names of all agents and completion rules, without loading any."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - reads every package

    return vocabulary(
        (*entry_points(group="looptasks.agent").names, *configured_names(root)),
        entry_points(group="looptasks.completion").names,
    )

"""The vocabulary of this environment: our own names, and those that packages add."""

from looptasks.core.vocabulary import Vocabulary, vocabulary


def installed() -> Vocabulary:
    """Return the names of all agents and completion rules, without loading any."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - reads every package

    return vocabulary(
        entry_points(group="looptasks.agent").names,
        entry_points(group="looptasks.completion").names,
    )

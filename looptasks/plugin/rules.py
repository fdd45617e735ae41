"""The completion rules at hand: shipped ones, and those that packages bring."""

from functools import cache
from typing import Any

from looptasks.core.completion import RULES, Rule
from looptasks.core.pipeline import Loop
from looptasks.errors import DeclarationError


def rule_of(loop: Loop) -> Rule:
    """Return the rule that says when a loop is done: its passes, if it has any."""
    if not loop.passes:
        return rule_named(loop.completion)
    from looptasks.core.passes import all_passes  # noqa: PLC0415 - seldom

    return all_passes


@cache
def rule_named(name: str) -> Rule:
    """Return a completion rule: a shipped one, or one that a package brings."""
    if name in RULES:
        return RULES[name]
    rules: dict[str, Any] = {}
    from importlib.metadata import entry_points  # noqa: PLC0415 - rarely asked for

    for point in entry_points(group="looptasks.completion"):
        if point.name == name:
            rules[name] = point.load()
    if name not in rules:
        raise DeclarationError(
            f"`completion: {name}` cannot be run by this version",
            fix="use one of " + ", ".join(f"`{rule}`" for rule in RULES),
        )
    rule: Rule = rules[name]
    return rule

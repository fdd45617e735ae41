"""A prompt: a template whose `${NAME}` are filled in for each iteration.

`$$` is a dollar sign; every other `$` (`$HOME`, `$(date)`, `${HOME:-x}`) stays as it
is. A value is inserted as it is and never expanded again.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from looptasks.core.suggestion import did_you_mean
from looptasks.errors import DeclarationError

KNOWN = (
    "SESSION",
    "SESSION_NAME",
    "ITERATION",
    "INDEX",
    "PROGRESS",
    "PROGRESS_FILE",
    "OUTPUT",
    "INPUTS",
    "PERSPECTIVE",
    "ITEM",
    "GOAL",
    "ARTIFACT",
    "PASS",
    "FEEDBACK",
    "BEAD",
    "BEAD_ID",
    "BD",
    "VALIDATE",
    "LEARNINGS",
)
# Which parts a variable has, such as `${PASS.prompt}`; empty where any name will do.
WITH_PARTS: Mapping[str, tuple[str, ...]] = {
    "INPUTS": (),
    "ITEM": (),
    "PASS": ("prompt",),
    "ARTIFACT": ("previous",),
}
_MARK = re.compile(r"\$(?:\$|\{([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9._-]+)?)\})")


@lru_cache(maxsize=64)
def variables(text: str) -> tuple[str, ...]:
    """Return the names that a template uses, each once, in order.

    >>> variables("${GOAL} $${NOT} ${INPUTS.plan} $HOME ${GOAL}")
    ('GOAL', 'INPUTS.plan')
    """
    return tuple(dict.fromkeys(name for name in _MARK.findall(text) if name))


def unknown_variables(text: str) -> tuple[str, ...]:
    """Return those names of a template that nothing will ever fill in."""
    return tuple(name for name in variables(text) if not is_known(name))


def is_known(name: str) -> bool:
    """Tell whether there is such a variable."""
    stem, dot, part = name.partition(".")
    if not dot:
        return stem in KNOWN
    return stem in WITH_PARTS and (not WITH_PARTS[stem] or part in WITH_PARTS[stem])


def parts(text: str, stem: str) -> tuple[str, ...]:
    """Return the parts of one variable that a template asks for.

    >>> parts("${INPUTS.plan} and ${INPUTS}", "INPUTS")
    ('plan',)
    """
    begin = f"{stem}."
    return tuple(
        name.removeprefix(begin) for name in variables(text) if name.startswith(begin)
    )


def render(text: str, values: Mapping[str, str]) -> str:
    """Fill in a template; a known variable without a value is empty.

    >>> render("${GOAL}: $$5, $HOME", {"GOAL": "save ${ITEM}"})
    'save ${ITEM}: $5, $HOME'
    """

    def filled(match: re.Match[str]) -> str:
        name = match[1]
        return _value(name, values) if name else "$"

    return _MARK.sub(filled, text)


def _value(name: str, values: Mapping[str, str]) -> str:
    value = values.get(name)
    if value is not None:
        return value
    if name in KNOWN:
        return ""
    raise DeclarationError(
        f"nothing fills in `${{{name}}}`{did_you_mean(name, known_names(values))}",
        where="prompt",
        fix=f"correct the name, or write `$${{{name}}}` for the text itself",
    )


def known_names(also: Iterable[str] = ()) -> tuple[str, ...]:
    """Return every variable's name, with those that only a session can know."""
    return tuple(dict.fromkeys((*KNOWN, *also)))

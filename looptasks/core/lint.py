"""Lint of loops: rules from settings to findings, one code per rule."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from looptasks.core import prompt as prompts
from looptasks.core.duration import PATTERN, seconds
from looptasks.core.finding import CODES, Finding, Place, finding
from looptasks.core.settings import tidied
from looptasks.core.suggestion import choice, suggestion
from looptasks.core.vocabulary import Vocabulary

__all__ = [
    "CODES",
    "NAME",
    "RESERVED",
    "is_inside",
    "lone_fan",
    "lone_findings",
    "name_finding",
    "prompt_findings",
    "value_findings",
]

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
# A stage's folder stands beside these in the session's folder; the case does not
# count, because there are file systems on which it does not.
RESERVED = frozenset(
    {
        "session.json",
        "ledger.jsonl",
        "doit.db",
        "run.json",
        "run.lock",
        "progress.md",
        "beads",
        "waves",
        "gates",
        "learnings",
    }
)
_PAIR = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*(:[^\s:]+)?")
_SPANS = ("timeout", "idle_timeout", "time_limit", "delay", "backoff")
_MAY_BE_NOTHING = frozenset({"delay", "backoff"})
_YEAR = 366 * 86400.0


def name_finding(name: str, place: Place, code: str, key: str) -> Iterator[Finding]:
    """Say why a name cannot stand for a folder, a file and a task."""
    what = f"`{key}` is `{name[:80]}`, which "
    if not re.match(NAME, name) or name.endswith("\n"):
        fix = "use at most 64 letters, digits, `.`, `_`, `-`; begin with no sign"
        yield finding(code, place.file, what + "cannot be a name", fix)
    elif name.lower() in RESERVED:
        fix = f"choose another name, such as `{name.partition('.')[0]}-stage`"
        yield finding(code, place.file, what + "is a file of every session", fix)
    elif re.match(r"^\d{4}$", name):
        fix = f"choose another name, such as `stage-{name}`"
        yield finding(code, place.file, what + "is the form of an iteration", fix)


def value_findings(
    settings: Mapping[str, Any], place: Place, words: Vocabulary
) -> Iterator[Finding]:
    """Check each value by itself, where types are already right."""
    yield from _word_findings(settings, place, words)
    yield from _pair_findings(settings, place)
    yield from _path_findings(tidied(settings), place)
    yield from _span_findings(settings, place)


def _word_findings(
    settings: Mapping[str, Any], place: Place, words: Vocabulary
) -> Iterator[Finding]:
    rows: tuple[tuple[str, str, tuple[str, ...], str], ...] = (
        ("L010", "completion", words.completions, "completion rule"),
        ("L011", "agent", words.agents, "agent"),
    )
    own = settings.get("judge")
    judge = own.get("agent") if isinstance(own, Mapping) else None
    rows += (("L011", "judge.agent", words.agents, "agent"),)
    values = {**settings, "judge.agent": judge}
    for code, key, known, noun in rows:
        word = values.get(key)
        if isinstance(word, str) and word not in known:
            what = f"{place.says(key, word)} is no {noun}"
            yield finding(code, place.file, what, choice(word, known))


def _pair_findings(settings: Mapping[str, Any], place: Place) -> Iterator[Finding]:
    pairs = settings.get("output_parse", "").split()
    fields = [pair.partition(":")[0] for pair in pairs]
    for index, pair in enumerate(pairs):
        bad = not _PAIR.fullmatch(pair)
        if bad or fields[index] in fields[:index]:
            why = "is not `field:MARKER`" if bad else "names its field again"
            what = f"`{place.key('output_parse')}`: `{pair[:80]}` {why}"
            fix = 'write for example `output_parse: "plateau:PLATEAU reason:REASON"`'
            yield finding("L020", place.file, what, fix)


def _path_findings(settings: Mapping[str, Any], place: Place) -> Iterator[Finding]:
    for key, path in _paths(settings):
        if not is_inside(path):
            what = f"{place.says(key, path)} leads out of the project"
            fix = "use a relative path, without `..` and `~`"
            yield finding("L021", place.file, what, fix)
        elif key.startswith("writes") and not {"*", "?"}.isdisjoint(path):
            what = f"{place.says(key, path)} is a pattern, not a file"
            fix = "name each file that must exist when the stage is done"
            yield finding("L026", place.file, what, fix)


def _paths(settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key in ("reads", "writes"):
        for index, path in enumerate(settings.get(key, ())):
            yield f"{key}[{index}]", path
    agent = settings.get("agent")
    if isinstance(agent, Mapping) and "replay" in agent:
        yield "agent.replay", agent["replay"]


def is_inside(path: str) -> bool:
    """Tell whether a path stays in the folder that it is relative to."""
    return bool(path) and path[0] not in "/~" and ".." not in path.split("/")


def _span_findings(settings: Mapping[str, Any], place: Place) -> Iterator[Finding]:
    for key in _SPANS:
        value = settings.get(key)
        if value is None or (isinstance(value, str) and not re.match(PATTERN, value)):
            continue
        span = seconds(value) or 0.0
        nothing = span == 0 and key not in _MAY_BE_NOTHING
        if nothing or span > _YEAR:
            why = "is no time at all" if nothing else "is more than a year"
            what = f"{place.says(key, value)} {why}"
            fix = f"write for example `{key}: 30m`, or leave it out"
            yield finding("L022", place.file, what, fix)


def prompt_findings(text: str, where: str) -> Iterator[Finding]:
    """Check the variables of a prompt."""
    for name in prompts.unknown_variables(text):
        near = suggestion(name, prompts.KNOWN)
        fix = f"write `$${{{name}}}` for the text itself"
        if near:
            fix = f"did you mean `${{{near}}}`? else {fix}"
        what = f"`${{{name[:80]}}}` is no variable that a prompt can use"
        yield finding("L012", where, what, fix)


def lone_fan(settings: Mapping[str, Any], where: str) -> Iterator[Finding]:
    """Say that a loop run by itself has no stage to fan out over."""
    each = settings.get("each", "beads")
    if each != "beads":
        what = f"`each: {each}` needs an earlier stage, and a lone loop has none"
        yield finding("L025", where, what, "run it as a stage of a pipeline")


def lone_findings(text: str, where: str) -> Iterator[Finding]:
    """Say what a prompt needs that a loop run by itself does not have."""
    for name in prompts.parts(text, "INPUTS"):
        what = f"`${{INPUTS.{name}}}` needs a stage `{name}`, and a lone loop has none"
        fix = f"run it in a pipeline with a stage `{name}`, or use `${{INPUTS}}`"
        yield finding("L025", where, what, fix)

"""A declared prompt: a file beside its declaration, or the text itself."""

import os
from collections.abc import Callable, Mapping
from typing import Any

from looptasks.core.finding import Finding, Place, finding
from looptasks.core.lint import is_inside, prompt_findings
from looptasks.effects.declaration_files import Snapshot
from looptasks.errors import DeclarationError

Read = tuple[str, tuple[Finding, ...]]


def loop_prompt(
    files: Snapshot, folder: str, place: Place, key: str, name: str
) -> Read:
    """Return the prompt in a file of a loop's folder, and what is wrong with it."""
    if not is_inside(name):
        what = f"`{key}` is `{name[:80]}`, which leads out of the loop's folder"
        fix = "use a path relative to that folder, without `..` and `~`"
        return "", (finding("L021", place.file, what, fix),)
    path = os.path.join(folder, name)
    try:
        text = files.text(path)
    except DeclarationError as error:
        return "", (finding("L009", error.where, error.what, error.fix),)
    if text is not None and text.strip():
        return text, tuple(prompt_findings(text, path))
    what = "there is no such prompt" if text is None else "the prompt is empty"
    return "", (finding("L009", path, what, "write what the agent is to do there"),)


def inline_prompt(files: Snapshot, place: Place, key: str, text: str) -> Read:
    """Return the prompt that a pipeline's file tells: a text, or a project's file."""
    path = text.strip()
    if not path.endswith(".md") or "\n" in path:
        return text, tuple(prompt_findings(text, place.whole))
    what = place.says(key, path)
    fix = "name a file of the project, or write the prompt as text"
    is_word = len(path.split()) == 1
    if is_word and not is_inside(path):
        what += " leads out of the project"
        return text, (finding("L021", place.file, what, fix),)
    try:
        content = files.text(path)
    except DeclarationError as error:
        return text, (finding("L009", error.where, error.what, error.fix),)
    if content is not None:
        return content, tuple(prompt_findings(content, path))
    what += " is taken as the prompt itself: there is no such file"
    odd = (finding("P019", place.file, what, fix),) if is_word else ()
    return text, (*odd, *prompt_findings(text, place.whole))


def with_judge(
    settings: Mapping[str, Any], read: Callable[[str], Read]
) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    """Return settings with the text of the judge's prompt in them."""
    declared = settings.get("judge")
    if not declared:
        return dict(settings), ()
    judge = {"prompt": declared} if isinstance(declared, str) else declared
    text, findings = read(judge["prompt"])
    return {**settings, "judge": {**judge, "prompt": text}}, findings


def judge_text(settings: Mapping[str, Any]) -> str:
    """Return the judge's prompt, empty when there is no judge."""
    return str((settings.get("judge") or {}).get("prompt", ""))

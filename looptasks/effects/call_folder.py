"""A folder of calls: a prompt, and the attempts that were made with it."""

import os
from typing import Any

from looptasks.core.agent import Answer
from looptasks.effects.files import make_folder, read_json, write_json, write_whole
from looptasks.effects.scrub import PRINTED, scrub


class CallFolder:
    """Where the calls of one role go: `prompt.md`, and a folder per attempt.

    What is `durable` outlives the loss of power before anything is made of it.
    """

    def __init__(self, calls: str, *, durable: bool) -> None:
        self.calls = calls
        self.durable = durable

    def attempts(self) -> list[str]:
        """Return the folders of attempts made so far, oldest first."""
        folder = f"{self.calls}/attempts"
        try:
            numbers = sorted(int(name) for name in os.listdir(folder))
        except (FileNotFoundError, ValueError):
            return []
        return [f"{folder}/{number}" for number in numbers]

    def new_attempt(self) -> str:
        """Make the folder of the next attempt."""
        path = f"{self.calls}/attempts/{len(self.attempts()) + 1}"
        make_folder(os.path.dirname(path))
        make_folder(path)
        return path

    def write_prompt(self, text: str) -> str:
        """Keep the prompt, and return its path."""
        path = f"{self.calls}/prompt.md"
        write_whole(path, text.encode())
        return path

    def save_answer(self, answer: Answer | None, attempt: str) -> None:
        """Write the verdict into the attempt's `result.json`; None if there is none.

        A check may take long: until it is over, this file is all that says that the
        agent was paid.
        """
        path = f"{attempt}/result.json"
        for name in PRINTED:
            scrub(f"{attempt}/{name}")
        scrub(f"{self.calls}/prompt.md")
        if answer is None:
            return
        facts = read_json(path)
        value = {**(facts or {"schema": 1}), **_verdict(answer)}
        write_json(path, value, durable=self.durable)


def _verdict(answer: Answer) -> dict[str, Any]:
    return {
        "verdict": answer.verdict,
        "reason": answer.reason,
        "cost_usd": answer.cost_usd,
        "tokens": answer.tokens._asdict() if answer.tokens else None,
        "model": answer.model or None,
        "session_id": answer.session_id or None,
        "turns": answer.turns,
        "estimated": answer.estimated,
        "resets_at": answer.resets_at or None,
    }

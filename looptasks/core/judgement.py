"""A judgement: what a judge's answer says of an iteration, approved or not."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

APPROVED, REJECTED = "APPROVED", "REJECTED"
# A word of its own, after whatever markdown puts in front of it.
_VERDICT = re.compile(rf"[ \t>*_#`~+|-]*({APPROVED}|{REJECTED})\b[ \t*_`:.,;|-]*(.*)")
_SHOWN = 300


class Judgement(NamedTuple):
    """A judge's verdict; an unclear answer is a rejection, too."""

    verdict: Literal["approved", "rejected", "unclear"]
    reason: str

    @property
    def approved(self) -> bool:
        """Whether the judge let it pass."""
        return self.verdict == "approved"

    def spoken(self) -> str:
        """Say it in a line."""
        if self.verdict == "unclear":
            return f"the judge's answer is unclear: {self.reason}"
        why = f": {self.reason}" if self.reason else ""
        return f"the judge {self.verdict} it{why}"

    def record(self, cost_usd: float | None) -> Mapping[str, Any]:
        """Return what an iteration keeps of it."""
        return {"verdict": self.verdict, "reason": self.reason, "cost_usd": cost_usd}


def judgement(chunks: Iterable[str]) -> Judgement:
    r"""Read an answer, which comes in chunks of whole lines; its last verdict counts.

    >>> judgement(["Looks good.\n", "**APPROVED**: all there\n"])
    Judgement(verdict='approved', reason='all there')
    """
    found = [
        m for chunk in chunks for line in chunk.splitlines() if (m := _verdict(line))
    ]
    words = {word for word, _ in found}
    if not found:
        return Judgement("unclear", f"no line begins with {APPROVED} or {REJECTED}")
    if len(words) > 1 or _is_both(*found[-1]):
        return Judgement("unclear", f"it says both {APPROVED} and {REJECTED}")
    word, reason = found[-1]
    return Judgement("approved" if word == APPROVED else "rejected", reason[:_SHOWN])


def _verdict(line: str) -> tuple[str, str] | None:
    found = _VERDICT.match(line)
    return (found[1], found[2].strip(" \t*_`")) if found else None


def _is_both(word: str, rest: str) -> bool:
    other = REJECTED if word == APPROVED else APPROVED
    return re.search(rf"\b{other}\b", rest) is not None

"""An attempt's folder: stdout, stderr, result.json, and usage.json if it was told."""

import math
import os
from typing import Any

from looptasks.core.agent import Answer, Tokens, VerdictName
from looptasks.core.duration import spoken
from looptasks.core.process import Ended
from looptasks.effects.files import read_json
from looptasks.effects.scrub import clean
from looptasks.effects.transcripts import unpacked

USAGE = "usage.json"
_TAIL, _LINE, _USAGE_LIMIT = 4096, 200, 65536
_HOWS = ("exit", "timeout", "idle", "interrupted", "orphaned", "unstartable")
_START = "name a program that exists and may be executed in `agent: {command: …}`"


def ended_in(folder: str) -> Ended | None:
    """Return how the attempt ended; None when no whole record says so."""
    found = read_json(f"{folder}/result.json")
    if not isinstance(found, dict) or found.get("how") not in _HOWS:
        return None
    return Ended(
        found["how"],
        _whole(found.get("exit_code")),
        _whole(found.get("signal")),
        str(found.get("started_at", "")),
        str(found.get("finished_at", "")),
        _amount(found.get("seconds")) or 0.0,
        str(found.get("detail") or ""),
    )


def answer_in(folder: str) -> Answer | None:
    """Return what a plain program's attempt came to; None when it never ended."""
    ended = ended_in(folder)
    if ended is None:
        return None
    verdict, reason = _judged(ended, folder)
    cost, tokens = _usage(f"{folder}/{USAGE}")
    return Answer(
        verdict,
        clean(reason),
        unpacked(f"{folder}/stdout"),
        ended.exit_code,
        ended.started_at,
        ended.finished_at,
        ended.seconds,
        cost_usd=cost,
        tokens=tokens,
    )


def last_line(path: str) -> str:
    """Return the last line of a file that says something, however long the file."""
    try:
        with open(path, "rb") as file:
            file.seek(max(os.fstat(file.fileno()).st_size - _TAIL, 0))
            text = file.read(_TAIL).decode("utf-8", "replace")
    except OSError:
        return ""
    lines = text.split("\n")
    return next((line.strip()[:_LINE] for line in lines[::-1] if line.strip()), "")


def _judged(ended: Ended, folder: str) -> tuple[VerdictName, str]:
    took = spoken(ended.seconds)
    match ended.how:
        case "exit":
            return _judged_exit(ended, folder)
        case "timeout":
            return "timeout", f"stopped after {took}: its time was up"
        case "idle":
            return "hung", f"stopped after {took}: it printed nothing for too long"
        case "interrupted":
            return "interrupted", f"interrupted after {took}"
        case "orphaned":
            return "interrupted", f"stopped after {took}: its runner died"
        case "unstartable":
            fixed = "\n  fix: " in ended.detail
            fix = "" if fixed else f"\n  fix: {_START}"
            return "error", f"{ended.detail or 'cannot be started'}{fix}"


def _judged_exit(ended: Ended, folder: str) -> tuple[VerdictName, str]:
    if ended.exit_code == 0:
        return "ok", "exit code 0"
    end = f"signal {ended.signal}" if ended.signal else f"exit code {ended.exit_code}"
    said = last_line(f"{folder}/stderr")
    return "transient", f"{end}: {said}" if said else end


def _usage(path: str) -> tuple[float | None, Tokens | None]:
    try:
        if os.path.getsize(path) > _USAGE_LIMIT:
            return None, None
        found = read_json(path)
    except (OSError, RecursionError):
        return None, None
    if not isinstance(found, dict):
        return None, None
    return _amount(found.get("cost_usd")), _tokens(found.get("tokens"))


def _tokens(value: Any) -> Tokens | None:  # noqa: ANN401 - whatever JSON holds
    if not isinstance(value, dict):
        return None
    counts = [_whole(value.get(name)) for name in ("input", "output")]
    cached = _whole(value.get("cached", 0))
    if any(count is None or count < 0 for count in (*counts, cached)):
        return None
    return Tokens(counts[0] or 0, counts[1] or 0, cached or 0)


def _whole(value: Any) -> int | None:  # noqa: ANN401 - whatever JSON holds
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _amount(value: Any) -> float | None:  # noqa: ANN401 - whatever JSON holds
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        amount = float(value)
    except OverflowError:
        return None
    return amount if math.isfinite(amount) and amount >= 0 else None

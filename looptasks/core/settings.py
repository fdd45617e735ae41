"""Settings: what declarations say of a loop, layer over layer."""

from collections.abc import Mapping
from typing import Any

from looptasks.core.digest import of_value
from looptasks.core.pipeline import DEFAULTS, loop_from

# Keys that say where a stage stands, not how its loop behaves.
PLACEMENT = frozenset({"loop", "prompt", "runs", "inputs", "parallel"})
_LISTS = ("reads", "writes", "restart_on")
_COUNTS = (
    "consensus",
    "min_iterations",
    "max_iterations",
    "attempts",
)
_SPOKEN = frozenset({"prompt", "description"})
# Raising a limit is how work goes on, and never makes any of it stale.
_LIMITS = frozenset({"max_iterations", "budget_usd", "time_limit"})


def of_stage(declared: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a stage says of its loop; `runs` is its `max_iterations`."""
    own = {k: v for k, v in declared.items() if k not in PLACEMENT and k != "name"}
    if "runs" in declared:
        own["max_iterations"] = declared["runs"]
    return own


def layered(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """Lay settings over each other, the last on top.

    Perspectives mean one iteration each, so a layer that brings them also ends the
    limit of the layers below, unless it brings its own.
    """
    result: dict[str, Any] = {}
    for layer in layers:
        if layer.get("perspectives") and "max_iterations" not in layer:
            result.pop("max_iterations", None)
        result |= layer
    return tidied(result)


def tidied(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings in their one form: lists as lists, counts as whole numbers."""
    result = dict(settings)
    for key in _LISTS:
        if isinstance(result.get(key), str):
            result[key] = [result[key]]
    for key in _COUNTS:
        if isinstance(result.get(key), float):
            result[key] = int(result[key])
    if isinstance(result.get("items"), list):
        result["items"] = [str(item) for item in result["items"]]
    return result


def completed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with the defaults filled in."""
    full = {**DEFAULTS, **settings}
    if full["perspectives"] and "max_iterations" not in settings:
        full["max_iterations"] = len(full["perspectives"])
    return full


def settings_digest(settings: Mapping[str, Any]) -> str:
    """Return the digest of effective settings: `60` and `1m` are the same."""
    loop = {**settings, **loop_from(settings, "")._asdict()}
    return of_value({k: v for k, v in loop.items() if k not in _SPOKEN | _LIMITS})

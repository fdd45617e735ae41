"""A combination: keys of a loop that contradict each other, one code per rule."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from looptasks.core.finding import Finding, finding
from looptasks.core.pipeline import parse_pairs
from looptasks.core.settings import completed

# Rules that do not bind a limit given for one run: `max=1` may well stop short.
LIMITS = frozenset({"L018", "L019", "L023", "L024", "L033"})
_AGREEMENT = 2
_LATER = ("judge", "passes")

Mending = tuple[str, str]


class Rule(NamedTuple):
    """A combination of keys that cannot be, with the words for it."""

    code: str
    keys: tuple[str, ...]
    check: Callable[[Mapping[str, Any]], Mending | None]


def combination_findings(
    settings: Mapping[str, Any], where: str, refused: Iterable[str] = ()
) -> Iterator[Finding]:
    """Check keys against each other, leaving out those already refused."""
    full = completed(settings)
    skipped = frozenset(refused)
    for rule in RULES:
        if skipped.isdisjoint(rule.keys) and (found := rule.check(full)):
            yield finding(rule.code, where, *found)


def _speechless(loop: Mapping[str, Any]) -> Mending | None:
    fields = [field for field, _ in parse_pairs(loop["output_parse"])]
    if loop["completion"] != "plateau" or "plateau" in fields:
        return None
    what = "`completion` is `plateau`, but `output_parse` has no field `plateau`"
    return what, 'add `output_parse: "plateau:PLATEAU"` and ask for it in the prompt'


def _hasty(loop: Mapping[str, Any]) -> Mending | None:
    if loop["completion"] != "plateau" or loop["min_iterations"] >= _AGREEMENT:
        return None
    least = loop["min_iterations"]
    what = f"`completion` is `plateau`, but `min_iterations` is `{least}`"
    return what, "use `min_iterations: 2` or more: a plateau takes two to see"


def _unchecked(loop: Mapping[str, Any]) -> Mending | None:
    layers = loop["validate"].strip(), loop["artifact"], loop["judge"], loop["passes"]
    if loop["completion"] != "validated" or any(layers):
        return None
    what = "`completion` is `validated`, but there is no `validate`"
    fix = 'add the command that must pass, such as `validate: "pytest -q"`'
    return what, f"{fix}; or an `artifact`, a `judge`, or `passes`"


def _itemless(loop: Mapping[str, Any]) -> Mending | None:
    if loop["completion"] != "all-items" or loop["items"]:
        return None
    what = "`completion` is `all-items`, but there are no `items`"
    return what, "add `items: [a, b]`, or a glob or a command that lists them"


def _endless(loop: Mapping[str, Any]) -> Mending | None:
    if loop["completion"] != "fixed-n" or loop["max_iterations"] or loop["passes"]:
        return None
    what = "`completion` is `fixed-n`, but `max_iterations` is `0` (no limit)"
    return what, "set `max_iterations` to 1 or more, or choose another `completion`"


def _crossed(loop: Mapping[str, Any]) -> Mending | None:
    least, most = loop["min_iterations"], loop["max_iterations"]
    if not most or least <= most:
        return None
    what = f"`min_iterations` is `{least}`, but `max_iterations` is `{most}`"
    return what, "lower `min_iterations`, or raise `max_iterations`"


def _outvoted(loop: Mapping[str, Any]) -> Mending | None:
    voices, most = loop["consensus"], loop["max_iterations"]
    if loop["completion"] != "plateau" or not most or voices <= most:
        return None
    what = f"`consensus` is `{voices}`, but `max_iterations` is `{most}`"
    return what, "lower `consensus`, or raise `max_iterations`"


def _overfull(loop: Mapping[str, Any]) -> Mending | None:
    items, most = loop["items"], loop["max_iterations"]
    if loop["completion"] != "all-items" or not isinstance(items, list) or not most:
        return None
    count = len(set(items))
    what = f"there are {count} `items`, but `max_iterations` is `{most}`"
    return (what, f"set `max_iterations: {count}`") if count > most else None


def _unheard(loop: Mapping[str, Any]) -> Mending | None:
    count, most = len(loop["perspectives"]), loop["max_iterations"]
    if loop["completion"] != "fixed-n" or not 0 < most < count:
        return None
    what = f"there are {count} `perspectives`, but `max_iterations` is `{most}`"
    return what, f"set `max_iterations: {count}`, or leave it out"


def _reversed(loop: Mapping[str, Any]) -> Mending | None:
    least, most = loop["entries"] or (0, 0)
    if least <= most:
        return None
    what = f"`entries` is `[{least}, {most}]`: the least is above the most"
    return what, f"write `entries: [{most}, {least}]`"


def _pass_names(loop: Mapping[str, Any]) -> list[str]:
    return [p if isinstance(p, str) else p["name"] for p in loop["passes"]]


def _twice_passed(loop: Mapping[str, Any]) -> Mending | None:
    names = _pass_names(loop)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is None:
        return None
    return f"two `passes` are called `{twice}`", "give each pass a name of its own"


def _overruled(loop: Mapping[str, Any]) -> Mending | None:
    if not loop["passes"] or loop["completion"] in ("fixed-n", "validated"):
        return None
    what = f"`completion` is `{loop['completion']}`, but there are `passes`"
    return what, "leave `completion` out: a stage with passes is done with the last one"


def _unpassable(loop: Mapping[str, Any]) -> Mending | None:
    count, most = len(loop["passes"]), loop["max_iterations"]
    if not 0 < most < count:
        return None
    what = f"there are {count} `passes`, but `max_iterations` is `{most}`"
    return what, f"set `max_iterations: {count}` or more: it counts all of them"


def _too_late(loop: Mapping[str, Any]) -> Mending | None:
    fans = loop["each"] and loop["isolation"] == "worktree"
    if loop["gate"] != "user" or not fans:
        return None
    what = "`isolation` is `worktree`, but with `gate: user` it has no effect"
    return what, "use `isolation: shared`: what is merged could not be rejected"


RULES = (
    Rule("L013", ("completion", "output_parse"), _speechless),
    Rule("L014", ("completion", "min_iterations"), _hasty),
    Rule("L015", ("completion", "validate", "artifact", *_LATER), _unchecked),
    Rule("L016", ("completion", "items"), _itemless),
    Rule("L017", ("completion", "max_iterations", "perspectives", *_LATER), _endless),
    Rule("L018", ("min_iterations", "max_iterations", "perspectives"), _crossed),
    Rule("L019", ("completion", "consensus", "max_iterations"), _outvoted),
    Rule("L023", ("completion", "items", "max_iterations"), _overfull),
    Rule("L024", ("completion", "perspectives", "max_iterations"), _unheard),
    Rule("L030", ("entries",), _reversed),
    Rule("L031", ("passes",), _twice_passed),
    Rule("L032", ("completion", "passes"), _overruled),
    Rule("L033", ("passes", "max_iterations", "perspectives"), _unpassable),
    Rule("L034", ("gate", "isolation"), _too_late),
)

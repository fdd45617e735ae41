"""A bead's id: `<prefix>-<base 36>`, and `<parent>.<n>` for its children."""

from __future__ import annotations

from looptasks.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_SHORTEST, _LONGEST = 3, 8
_DEEPEST = 3


def new_id(prefix: str, taken: Collection[str], randomness: int) -> str:
    """Return a free id; it grows with the number of beads, so that few collide."""
    length = _length(len(taken))
    room = len(_DIGITS) ** length
    for step in range(room):
        found = f"{prefix}-{_base36((randomness + step) % room, length)}"
        if found not in taken:
            return found
    return new_id(f"{prefix}-0", taken, randomness)


def _length(count: int) -> int:
    """Return how long an id must be for a chance of collision under a quarter."""
    length = _SHORTEST
    while length < _LONGEST and 2 * count * count > len(_DIGITS) ** length:
        length += 1
    return length


def _base36(number: int, length: int) -> str:
    text = ""
    for _ in range(length):
        number, digit = divmod(number, 36)
        text = _DIGITS[digit] + text
    return text


def child_id(parent: str, taken: Iterable[str]) -> str:
    """Return the next free child id of a parent.

    >>> child_id("bd-a3f", ["bd-a3f", "bd-a3f.1", "bd-a3f.1.7"])
    'bd-a3f.2'
    """
    if depth(parent) >= _DEEPEST:
        raise UsageError(
            f"`{parent}` is {_DEEPEST} levels deep already, and has no children",
            fix="make the bead a child of one further up",
        )
    start = parent + "."
    tails = [id_[len(start) :] for id_ in taken if id_.startswith(start)]
    return f"{start}{max((int(t) for t in tails if t.isdecimal()), default=0) + 1}"


def depth(id_: str) -> int:
    """Return how many parents the id names."""
    return id_.rpartition("-")[2].count(".")


def prefix_of(id_: str) -> str:
    """Return the part before the last dash.

    >>> prefix_of("web-app-a3f.1")
    'web-app'
    """
    return id_.rpartition("-")[0]


def prefix_from(folder: str) -> str:
    """Return a prefix made of a folder's name.

    >>> prefix_from("My Project!")
    'my-project'
    """
    kept = (c if c.isalnum() and c.isascii() else "-" for c in folder.lower())
    return "-".join(part for part in "".join(kept).split("-") if part) or "bd"


def checked_id(id_: str) -> str:
    """Return an id that a person chose, if it can be one."""
    prefix, dash, rest = id_.rpartition("-")
    plain = all(c.isascii() and (c.isalnum() or c in "-_.") for c in id_)
    if not (prefix and dash and rest and plain) or depth(id_) > _DEEPEST:
        raise UsageError(
            f"`{id_}` is no id", fix="use `PREFIX-NAME`, or `PARENT.NUMBER` for a child"
        )
    return id_

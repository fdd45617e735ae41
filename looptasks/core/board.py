"""A board: all beads of a project.

Most beads of an old project are closed, and of those little is ever asked. Their lines
are therefore only looked at when somebody asks for one.
"""

from __future__ import annotations

from looptasks.core import json_text
from looptasks.core.bead import labels, parents, status
from looptasks.errors import StorageError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from looptasks.core.bead import Bead


class Board:
    """The beads by id: those that are not closed, and the lines of the others."""

    __slots__ = (
        "_children",
        "_closed",
        "_labelled",
        "_lines",
        "_live",
        "others",
        "where",
    )

    def __init__(self, where: str = "") -> None:
        self.where = where
        self.others: list[str] = []  # lines that are no beads, kept as they are
        self._live: dict[str, Bead] = {}
        self._closed: dict[str, Bead | None] = {}
        self._lines: dict[str, str] = {}
        self._children: dict[str, list[str]] | None = None
        self._labelled: dict[str, dict[str, Bead]] = {}

    @classmethod
    def of(cls, beads: Iterable[Bead]) -> Board:
        """Return a board of these beads."""
        board = cls()
        board.put(beads)
        return board

    def put(self, beads: Iterable[Bead]) -> None:
        """Add or replace beads."""
        for bead in beads:
            id_ = bead["id"]
            if self._children is not None and parents(bead) != self._parents(id_):
                self._children = None
            closed = status(bead) == "closed"
            (self._live if closed else self._closed).pop(id_, None)
            (self._closed if closed else self._live)[id_] = bead
            self._lines.pop(id_, None)
            self._relabel(bead)

    def _parents(self, id_: str) -> list[str]:
        return parents(self.get(id_) or {})

    def _relabel(self, bead: Bead) -> None:
        for label, known in self._labelled.items():
            if label in labels(bead):
                known[bead["id"]] = bead
            else:
                known.pop(bead["id"], None)

    def put_line(self, text: str, bead: Bead) -> None:
        """Add a bead that is not there yet, with its line."""
        self.put([bead])
        self._lines[bead["id"]] = text

    def put_closed(self, lines: Mapping[str, str]) -> None:
        """Add closed beads that are not there yet by id and line, without a look."""
        self._closed.update(dict.fromkeys(lines))
        self._lines.update(lines)

    def line_of(self, id_: str) -> str:
        """Return the line that a bead was read from."""
        return self._lines[id_]

    def after(self, beads: Iterable[Bead]) -> Board:
        """Return the board as it is when these beads are added or replaced."""
        board = Board(self.where)
        board.others = self.others
        board._live = dict(self._live)
        board._closed = dict(self._closed)
        board._lines = dict(self._lines)
        board._children = self._children
        board._labelled = {label: dict(b) for label, b in self._labelled.items()}
        board.put(beads)
        return board

    def __len__(self) -> int:
        return len(self._live) + len(self._closed)

    def __contains__(self, id_: object) -> bool:
        return id_ in self._live or id_ in self._closed

    def ids(self) -> list[str]:
        """Return all ids, sorted."""
        return sorted([*self._live, *self._closed])

    def get(self, id_: str) -> Bead | None:
        """Return a bead, None when there is none of that id."""
        bead = self._live.get(id_)
        if bead is None and id_ in self._closed:
            bead = self._closed[id_]
            if bead is None:
                bead = self._closed[id_] = self._read(id_)
        return bead

    def _read(self, id_: str) -> Bead:
        return bead_of(self._lines[id_], self.where, f"the line of `{id_}`")

    def status(self, id_: str) -> str | None:
        """Return a bead's status, None when there is none of that id."""
        bead = self._live.get(id_)
        if bead is not None:
            return status(bead)
        return "closed" if id_ in self._closed else None

    def live(self) -> Iterable[Bead]:
        """Return the beads that are not closed."""
        return self._live.values()

    def all(self) -> Iterator[Bead]:
        """Yield every bead, sorted by id."""
        for id_ in self.ids():
            bead = self.get(id_)
            if bead is not None:
                yield bead

    def labelled(self, label: str) -> list[Bead]:
        """Return the beads with a label, closed ones included, sorted by id."""
        if label not in self._labelled:
            found = (b for b in self.mentioning(label) if label in labels(b))
            self._labelled[label] = {bead["id"]: bead for bead in found}
        return sorted(self._labelled[label].values(), key=_id)

    def children(self, id_: str) -> list[str]:
        """Return the ids of a bead's children, sorted."""
        if self._children is None:
            self._children = self._all_children()
        return self._children.get(id_, [])

    def _all_children(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for bead in self.mentioning("parent-child"):
            for parent in parents(bead):
                found.setdefault(parent, []).append(bead["id"])
        return {parent: sorted(ids) for parent, ids in found.items()}

    def mentioning(self, word: str) -> Iterator[Bead]:
        """Yield the open beads, and the closed ones that may have that word."""
        yield from list(self.live())
        quoted = json_text.line(word)
        for id_, bead in list(self._closed.items()):
            if bead is None and not _may_hold(quoted, self._lines[id_]):
                continue
            found = self.get(id_)
            if found is not None:
                yield found

    def find(self, name: str) -> Bead:
        """Return the bead of an id, or of the only id that ends so."""
        bead = self.get(name)
        if bead is not None:
            return bead
        near = [id_ for id_ in self.ids() if id_.endswith(f"-{name}")]
        if len(near) == 1:
            return self.find(near[0])
        if near:
            raise UsageError(
                f"`{name}` may be any of `{'`, `'.join(near)}`", fix="name one of them"
            )
        raise UsageError(f"there is no bead `{name}`", fix=_near(name, self.ids()))

    def lines(self) -> Iterator[str]:
        """Yield the lines of the file: beads by id, untouched ones as they were."""
        for id_ in self.ids():
            if id_ not in self._lines:
                self._lines[id_] = json_text.line(self.get(id_))
            yield self._lines[id_]
        yield from self.others


def bead_of(text: str, where: str, line: str) -> Bead:
    """Return the bead of a line; an error says which line is none."""
    fix = "mend or remove that line"
    try:
        bead = json_text.read(text)
    except (ValueError, RecursionError) as error:
        what = f"{line} is not JSON: {error}"
        raise StorageError(what, where=where, fix=fix) from error
    if isinstance(bead, dict) and bead.get("_type", "issue") != "issue":
        return bead
    wrong = _wrong(bead)
    if wrong:
        raise StorageError(f"{line} {wrong}", where=where, fix=fix)
    return bead  # type: ignore[no-any-return]


def _wrong(bead: object) -> str:
    """Return what makes a line unusable as a bead, empty when nothing does."""
    if not isinstance(bead, dict) or not isinstance(bead.get("id"), str):
        return "is not a bead: it has no `id`"
    if not isinstance(bead.get("priority", 2), int):
        return f"has a `priority` that is no number: `{bead['priority']}`"
    if not isinstance(bead.get("labels") or [], list):
        return "has `labels` that are no list"
    needs = bead.get("dependencies") or []
    if not isinstance(needs, list) or not all(
        isinstance(d, dict) and isinstance(d.get("depends_on_id"), str) for d in needs
    ):
        return "has a dependency without `depends_on_id`"
    return ""


def _may_hold(quoted: str, text: str) -> bool:
    # Another writer may have escaped a slash, or what is not ASCII.
    return quoted in text or "\\u" in text or "\\/" in text


def _id(bead: Bead) -> str:
    id_: str = bead["id"]
    return id_


def _near(name: str, ids: list[str]) -> str:
    from looptasks.core.suggestion import suggestion  # noqa: PLC0415 - only mistakes

    near = suggestion(name, ids)
    return f"did you mean `{near}`?" if near else "`list --all` shows what there is"

"""A view: the few lines that show a running session, made to fit their terminal."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from looptasks.core.screen_text import cut, plain, width
from looptasks.core.spending import Spending

Tone = Literal["", "strong", "quiet", "good", "busy", "bad"]
Status = Literal["waiting", "busy", "complete", "failed"]
_ROOMY = 12  # from so many lines on, an empty one sets the view apart
_LEAST = 6  # a text that would be cut shorter than this is left out
_ALIGNED = 40  # from so many columns on, names get a column of their own
_WIDEST = 100  # longer rows are hard to read, and break when a terminal is resized


class Piece(NamedTuple):
    """A part of a row; when room is short, a high rank goes first.

    An `elastic` piece is cut to the room that is left; any other is whole, or says it
    in `brief`, or is absent.
    """

    text: str
    tone: Tone = ""
    rank: int = 0
    elastic: bool = False
    brief: str = ""


Row = tuple[Piece, ...]


class Signs(NamedTuple):
    """The characters that a terminal can show."""

    done: str = "✓"
    busy: str = "●"
    waiting: str = "○"
    failed: str = "✗"
    between: str = " · "
    ellipsis: str = "…"


ASCII = Signs("+", "*", "-", "x", ", ", "...")


class AtWork(NamedTuple):
    """An iteration that runs now."""

    number: int
    seconds: float
    attempt: int
    doing: str
    spent: str = ""


class StageView(NamedTuple):
    """A stage: how far it is, and what runs now. `limit` 0 is none, or unknown."""

    name: str
    status: Status
    done: int
    limit: int = 0
    reason: str = ""
    at_work: AtWork | None = None


class View(NamedTuple):
    """A session while it runs."""

    session: str
    entry: str
    seconds: float
    spending: Spending
    stages: tuple[StageView, ...]


class Size(NamedTuple):
    """How much a terminal can show."""

    columns: int
    lines: int


class _Detail(NamedTuple):
    """What is shown one by one, and what only counted."""

    complete: bool = True
    waiting: bool = True
    doing: bool = True


_DETAILS = (
    _Detail(),
    _Detail(complete=False),
    _Detail(complete=False, waiting=False),
    _Detail(complete=False, waiting=False, doing=False),
)


def rows(view: View, size: Size, signs: Signs) -> list[Row]:
    """Return the view as rows, as many and as long as the terminal has room for."""
    # Below is the line of the cursor, above at least one line of what was said.
    room = max(size.lines - 2, 1)
    # The last column stays free: some terminals wrap as soon as it is filled.
    columns = max(min(size.columns - 1, _WIDEST), 1)
    made: list[Row] = []
    for detail in _DETAILS:
        made = list(_rows(view, detail, signs, columns))
        if len(made) <= room:
            break
    else:
        rest = len(made) - room + 1
        made = [*made[: room - 1], (Piece(f"  and {rest} more", "quiet"),)]
    if size.lines >= _ROOMY and len(made) < room:
        made = [(), *made]
    return [fit(row, columns, signs.ellipsis) for row in made]


def _rows(view: View, detail: _Detail, signs: Signs, columns: int) -> Iterator[Row]:
    yield _head(view, signs)
    alone = [stage for stage in view.stages if _alone(stage, detail)]
    longest = max((width(stage.name) for stage in alone), default=0)
    fits = columns >= _ALIGNED and longest <= columns // 3
    for stage in alone:
        yield _stage(stage, longest if fits else 0, signs)
        if stage.at_work and stage.at_work.doing and detail.doing:
            yield (Piece("   "), Piece(stage.at_work.doing, "quiet", elastic=True))
    yield from _counted(view.stages, detail, signs)


def _head(view: View, signs: Signs) -> Row:
    return (
        Piece(" "),
        Piece(view.session, "strong", elastic=True),
        Piece(f"{signs.between}{view.entry}", "quiet", 3),
        Piece(f"{signs.between}{clock(view.seconds)}", "quiet", 1),
        Piece(f"{signs.between}{view.spending.spoken()}", "quiet", 2),
    )


def _alone(stage: StageView, detail: _Detail) -> bool:
    if stage.status == "complete":
        return detail.complete
    return stage.status != "waiting" or detail.waiting


def _stage(stage: StageView, names: int, signs: Signs) -> Row:
    between = signs.between
    padding = " " * max(names - width(stage.name), 0)
    row = [
        _mark(stage, signs),
        Piece(stage.name, "" if stage.at_work else "quiet", elastic=True),
        Piece(padding, rank=1),
        _count(stage),
    ]
    if now := stage.at_work:
        row.append(Piece(f"{between}iteration {now.number}", "quiet", 3))
        row.append(Piece(f"{between}{clock(now.seconds)}", "quiet", 2))
        if now.attempt > 1:
            row.append(Piece(f"{between}attempt {now.attempt}", "quiet", 4))
        if now.spent:
            row.append(Piece(f"{between}{now.spent}", "quiet", 5))
    if stage.reason:
        row.append(Piece(f"{between}{stage.reason}", "quiet", 5, elastic=True))
    return tuple(row)


def _mark(stage: StageView, signs: Signs) -> Piece:
    match stage.status:
        case "complete":
            return Piece(f" {signs.done} ", "good")
        case "busy":
            return Piece(f" {signs.busy} ", "busy")
        case "failed":
            return Piece(f" {signs.failed} ", "bad")
        case "waiting":
            return Piece(f" {signs.waiting} ", "quiet")


def _count(stage: StageView) -> Piece:
    if stage.status == "waiting" and not stage.done:
        return Piece("  waiting", "quiet", 1)
    if stage.limit and stage.status != "complete":
        brief = f" {stage.done}/{stage.limit}"
        text = f"  {stage.done} of {stage.limit} done"
        return Piece(text, "quiet", 1, brief=brief)
    if not stage.done:
        return Piece("")
    return Piece(f"  {stage.done} done", "quiet", 1, brief=f" {stage.done}")


def _counted(
    stages: Iterable[StageView], detail: _Detail, signs: Signs
) -> Iterator[Row]:
    hidden = [stage for stage in stages if not _alone(stage, detail)]
    for status, tone in (("complete", signs.done), ("waiting", signs.waiting)):
        names = [stage.name for stage in hidden if stage.status == status]
        if names:
            text = f" {tone} {len(names)} {status}: {', '.join(names)}"
            yield (Piece(text, "quiet", elastic=True),)


def fit(pieces: Sequence[Piece], columns: int, ellipsis: str) -> Row:
    """Return those of the pieces that there is room for, in their order."""
    room = columns
    kept: dict[int, Piece] = {}
    for index in sorted(range(len(pieces)), key=lambda i: pieces[i].rank):
        piece = pieces[index]._replace(text=plain(pieces[index].text))
        if piece.elastic and (piece.rank == 0 or room >= _LEAST):
            piece = piece._replace(text=cut(piece.text, room, ellipsis))
        elif width(piece.text) > room and piece.brief:
            piece = piece._replace(text=piece.brief)
        if width(piece.text) <= room:
            kept[index] = piece
            room -= width(piece.text)
    return tuple(kept[index] for index in sorted(kept))


def row_width(row: Row) -> int:
    """Return how many cells a row fills."""
    return sum(width(piece.text) for piece in row)


def height(widths: Iterable[int], columns: int) -> int:
    """Return how many lines rows take in a terminal that may have become narrower.

    >>> height([70, 10, 0], 80), height([70, 10, 0], 30)
    (3, 5)
    """
    return sum(max(-(-cells // max(columns, 1)), 1) for cells in widths)


def clock(seconds: float) -> str:
    """Return a time that passes, as clocks show it.

    >>> clock(4.9), clock(75), clock(3700)
    ('0:04', '1:15', '1:01:40')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"

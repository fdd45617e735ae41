"""The lines of `issues.jsonl`: how a board is read from text and written as text."""

from __future__ import annotations

from looptasks.core.board import Board, bead_of
from looptasks.errors import StorageError

# What a closed bead's line has in it, as every writer that we know of spells it.
_CLOSED = ',"status":"closed"'
_ID, _TYPED = '{"id":"', '{"_type":"issue","id":"'
_CONFLICT = ("<<<<<<< ", "=======", ">>>>>>> ", "||||||| ")


def board_from(text: str, where: str) -> Board:
    """Return the board that a file's text says."""
    board = Board(where)
    # Not splitlines: it also splits at separators that JSON strings may hold.
    lines = text.split("\n")
    closed, others = _sorted_out(lines)
    board.put_closed(closed)
    for number, line in others:
        if line and not line.isspace():
            _put(board, number, line, lines)
    return board


def _sorted_out(lines: list[str]) -> tuple[dict[str, str], list[tuple[int, str]]]:
    """Return the lines that are surely closed beads by id, and the others by number.

    Most lines of an old project are closed beads: no call, no number for those. With
    no brackets before it, the status that was found is the bead's own. What is not
    written as tightly as we know it, or may be torn, is read in full.
    """
    closed: dict[str, str] = {}
    others = []
    for number, line in enumerate(lines[:-1], 1):
        head, found, tail = line.partition(_CLOSED)
        if (
            found
            and head[:7] == _ID
            and "{" not in head[1:]
            and "[" not in head
            and (tail[-2:] == "]}" or (tail[-2:] == '"}' and "{" not in tail))
        ):
            id_ = head[7 : head.index('"', 7)]
        else:
            id_ = _closed_id(line) if found else ""
        if id_ and id_ not in closed and "\\" not in id_:
            closed[id_] = line
        else:
            others.append((number, line))
    return closed, [*others, (len(lines), lines[-1])]


def text_of(board: Board) -> str:
    """Return the file's text for a board."""
    return "\n".join([*board.lines(), ""])


def _closed_id(line: str) -> str:
    """Return the id if the line is surely a closed bead, else nothing.

    Quotes in strings are escaped, so the status found is a key, and no part of a
    string. All values before it are strings, so it is the bead's own.
    """
    at = line.find(_CLOSED)
    start = next((len(s) for s in (_ID, _TYPED) if line.startswith(s)), 0)
    if not start:
        return ""
    if not (line.endswith("]}") or (line.endswith('"}') and line.find("{", at) < 0)):
        return ""
    if line.count('":', 0, at) != line.count('":"', 0, at):
        return ""
    return line[start : line.index('"', start)]


def _put(board: Board, number: int, line: str, lines: list[str]) -> None:
    if line.startswith(_CONFLICT):
        raise StorageError(
            f"line {number} is a conflict marker of git (`{line[:7]}`)",
            where=board.where,
            fix="resolve the conflict: of two lines with one id keep the newer",
        )
    bead = bead_of(line, board.where, f"line {number}")
    if bead.get("_type", "issue") != "issue":
        board.others.append(line)
    elif bead["id"] in board:
        first = lines.index(board.line_of(bead["id"])) + 1
        raise StorageError(
            f"lines {first} and {number} are both `{bead['id']}`",
            where=board.where,
            fix="keep the newer of the two",
        )
    else:
        board.put_line(line, bead)

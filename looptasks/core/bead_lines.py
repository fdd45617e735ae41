"""The lines of `issues.jsonl`: how a board is read from text and written as text."""

from __future__ import annotations

from looptasks.core.board import Board, bead_of
from looptasks.errors import StorageError

# What a closed bead's line has in it, as every writer that we know of spells it.
_CLOSED = ',"status":"closed"'
_STARTS = ('{"id":"', '{"_type":"issue","id":"')
_CONFLICT = ("<<<<<<< ", "=======", ">>>>>>> ", "||||||| ")


def board_from(text: str, where: str) -> Board:
    """Return the board that a file's text says."""
    board = Board(where)
    # Not splitlines: it also splits at separators that JSON strings may hold.
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        id_ = _closed_id(line) if number < len(lines) else ""
        if id_:
            board.put_line(number, line, id_, None)
        elif line and not line.isspace():
            _put(board, number, line)
    return board


def text_of(board: Board) -> str:
    """Return the file's text for a board."""
    return "".join(f"{line}\n" for line in board.lines())


def _closed_id(line: str) -> str:
    """Return the id if the line is surely a closed bead, else nothing.

    Only one brace before the status: so it is the bead's own, not that of an object in
    it. Quotes in strings are escaped, so it is a key, not a part of a string.
    """
    at = line.find(_CLOSED)
    if at < 0 or line[-1] != "}" or line.find("{", 1, at) >= 0:
        return ""
    for start in _STARTS:
        if line.startswith(start):
            id_ = line[len(start) : line.find('"', len(start))]
            whole = "\\" not in id_ and line.count("{") == line.count("}")
            return id_ if whole else ""
    return ""


def _put(board: Board, number: int, line: str) -> None:
    if line.startswith(_CONFLICT):
        raise StorageError(
            f"line {number} is a conflict marker of git (`{line[:7]}`)",
            where=board.where,
            fix="resolve the conflict: of two lines with one id keep the newer",
        )
    bead = bead_of(line, board.where, number)
    if bead.get("_type", "issue") == "issue":
        board.put_line(number, line, bead["id"], bead)
    else:
        board.others.append(line)

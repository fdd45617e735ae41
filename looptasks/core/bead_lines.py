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

    Quotes in strings are escaped, so the status found is a key, and no part of a
    string. All values before it are strings, so it is the bead's own. What is not
    written as tightly as we know it, or may be torn, is read in full.
    """
    at = line.find(_CLOSED)
    if at < 0 or not line.startswith(_STARTS):
        return ""
    if not (line.endswith("]}") or (line.endswith('"}') and line.find("{", at) < 0)):
        return ""
    head = line[:at]
    if head.count('":') != head.count('":"'):
        return ""
    start = len(_STARTS[line[2] == "_"])
    id_ = line[start : line.find('"', start)]
    return "" if "\\" in id_ else id_


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

"""Beads that the real `bd` keeps: every question and change is a call of it.

What beads there are is read from its export, and what is ready is decided here: `bd`
0.47 shows claimed beads as ready and 10 of them, 1.x sorts in another way. Its exit
code is no answer either, for 0.47 refuses a claim with 0 and no output.
"""

from __future__ import annotations

import os
import subprocess
import time

from looptasks.core import json_text
from looptasks.core.bead import status
from looptasks.core.bead_lines import board_from
from looptasks.errors import LoopError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looptasks.core.bead import Bead
    from looptasks.core.board import Board

_LIMIT = 60  # seconds for one call
_FRESH = 1.0  # seconds for which an export counts as now
_PATIENCE = 4  # and at least so many times what it took: a slow one is not repeated
# No process of `bd` may outlive the call: no daemon, no sender of statistics.
_ENVIRONMENT = {"BEADS_NO_DAEMON": "1", "BD_DISABLE_EVENT_FLUSH": "1"}


class BdBeads:
    """The beads of a project whose database `bd` owns."""

    def __init__(self, root: str, program: str = "bd") -> None:
        self.root = root
        self.program = program
        self._board: Board | None = None
        self._stale_at = 0.0
        self._count = 0
        self._every = True  # whether `export` knows `--all`

    def revision(self) -> int:
        """Return a number that stays for a second: `bd` has no cheap way to tell."""
        if self._board is not None and time.monotonic() >= self._stale_at:
            self._forget()
        return self._count

    def _forget(self) -> None:
        self._board = None
        self._count += 1

    def beads(self) -> Board:
        """Return all beads."""
        self.revision()
        if self._board is None:
            start = time.monotonic()
            self._board = board_from(self._export(), f"`{self.program} export`")
            took = time.monotonic() - start
            self._stale_at = start + max(_FRESH, _PATIENCE * took)
        return self._board

    def _export(self) -> str:
        if self._every:
            code, out, _ = self._call("export", "--all")
            if code == 0:
                return out
            self._every = False
        code, out, err = self._call("export")
        if code:
            raise self._refusal("export", err)
        return out

    def claim(self, id_: str, actor: str) -> Bead:
        """Take a bead to work on, unless somebody else has it."""
        err = self._change(id_, "update", id_, "--claim", "--actor", actor)[1]
        bead = self.show(id_)
        if bead.get("assignee") == actor and status(bead) == "in_progress":
            return bead
        raise UsageError(
            f"`{id_}` could not be claimed: {err or status(bead)}",
            fix="take another one",
        )

    def release(self, id_: str) -> Bead:
        """Let others have a bead; it needs both the status and no assignee."""
        bead = self.show(id_)
        if status(bead) == "closed":
            return bead
        return self._changed(id_, "update", id_, "--status", "open", "--assignee", "")

    def close(self, id_: str, reason: str) -> Bead:
        """Say that a bead is done."""
        words = ("close", id_, "--reason", reason or "Closed")
        bead, err = self._change(id_, *words)
        found = bead or self.show(id_)
        if status(found) != "closed":
            raise self._refusal("close", err)
        return found

    def reopen(self, id_: str, reason: str) -> Bead:
        """Say that a bead is not done after all, and let others have it."""
        bead, err = self._change(id_, "reopen", id_, "--reason", reason)
        if status(bead or self.show(id_)) == "closed":
            raise self._refusal("reopen", err)
        return self.release(id_)

    def set_status(self, id_: str, status: str) -> Bead:
        """Give a bead another status."""
        return self._changed(id_, "update", id_, "--status", status)

    def add_note(self, id_: str, text: str) -> Bead:
        """Add a line to a bead's notes; 0.47 cannot append."""
        old = self.show(id_).get("notes")
        notes = f"{old}\n{text}" if old else text
        return self._changed(id_, "update", id_, "--notes", notes)

    def show(self, id_: str) -> Bead:
        """Return one bead as it is now."""
        _, out, err = self._call("show", id_, "--json")
        bead = answered(out, id_)
        if bead is None:
            raise self._refusal("show", err)
        return bead

    def _changed(self, id_: str, *words: str) -> Bead:
        bead, err = self._change(id_, *words)
        if bead is None:
            raise self._refusal(words[0], err)
        return bead

    def _change(self, id_: str, *words: str) -> tuple[Bead | None, str]:
        """Return the bead that the answer shows, if any, and the complaint."""
        self._forget()
        _, out, err = self._call(*words, "--json")
        return answered(out, id_), _complaint(err)

    def _call(self, *words: str) -> tuple[int, str, str]:
        try:
            done = subprocess.run(
                [self.program, *words],
                cwd=self.root,
                env={**os.environ, **_ENVIRONMENT},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_LIMIT,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise LoopError(
                f"`{self.program} {words[0]}` did not run: {error}",
                fix=f"run it by hand in `{self.root}`, and mend it",
            ) from error
        out = done.stdout.decode("utf-8", "replace")
        err = done.stderr.decode("utf-8", "replace")
        # Some refusals are printed where answers are.
        return done.returncode, out, out if done.returncode and not err else err

    def _refusal(self, command: str, err: str) -> LoopError:
        why = _complaint(err) or "no reason given"
        return UsageError(f"`{self.program} {command}` refused: {why}")


def answered(text: str, id_: str) -> Bead | None:
    """Return the bead of that id in an answer: an array, an object, or an envelope."""
    try:
        answer = json_text.read(text)
    except ValueError:
        return None
    if isinstance(answer, dict) and "data" in answer and "schema_version" in answer:
        answer = answer["data"]
    beads = answer if isinstance(answer, list) else [answer]
    for bead in beads:
        if isinstance(bead, dict) and bead.get("id") == id_:
            return bead
    return None


def _complaint(err: str) -> str:
    """Return what an error output says: its JSON's message, or its first line."""
    try:
        said = json_text.read(err)
    except ValueError:
        lines = [line.strip() for line in err.splitlines() if line.strip()]
        return lines[0] if lines else ""
    if isinstance(said, dict) and isinstance(said.get("data"), dict):
        said = said["data"]
    return str(said.get("error", "")) if isinstance(said, dict) else str(said)

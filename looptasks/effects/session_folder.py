"""A session's folder: where its files are, and how superseded work leaves it."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from looptasks.core.digest import SUPPOSED
from looptasks.core.iteration import Iteration, history_entry, state_of
from looptasks.core.stage_record import StageRecord
from looptasks.core.taskname import padded
from looptasks.effects.files import (
    beside,
    make_folder,
    read_bytes,
    read_json,
    storing,
    write_all,
    write_if_changed,
    write_json,
    write_whole,
)
from looptasks.effects.project_files import digest_of
from looptasks.errors import UsageError

HOME, ARCHIVE = ".loop", "archive"
_CHUNK = 1 << 20


class SessionFolder:
    """The paths and the files of one session."""

    def __init__(self, root: str, session: str) -> None:
        self.root = root
        self.session = session
        self.path = os.path.join(root, HOME, session)
        self.supposed = ""
        if os.path.islink(os.path.join(root, HOME)) or os.path.islink(self.path):
            raise UsageError(
                "a link stands where the session's folder should be",
                where=f"{HOME}/{session}",
                fix="remove the link, or use another session name",
            )

    def file(self, name: str) -> str:
        """Return the path of one of the session's own files."""
        return os.path.join(self.path, name)

    def stage(self, stage: str, *names: str) -> str:
        """Return a path below a stage's folder."""
        return "/".join((self.path, stage, *names))

    def iteration(self, stage: str, number: int, *names: str) -> str:
        """Return a path below an iteration's folder."""
        return "/".join((self.path, stage, "iterations", padded(number), *names))

    def relative(self, stage: str, *names: str) -> str:
        """Return a path below a stage's folder, as seen from the project."""
        return "/".join((HOME, self.session, stage, *names))

    def lost(self, stage: str, count: int) -> list[int]:
        """Return the iterations whose output is no longer there."""
        exists, folder = os.path.exists, self.stage(stage, "iterations")
        return [
            number
            for number in range(1, count + 1)
            if not exists(f"{folder}/{number:04d}/output.md")
        ]

    def derive(self, stage: str, iteration: Iteration) -> None:
        """Write what derives from an iteration if a crash came before it."""
        path = self.iteration(stage, iteration.number, "state.json")
        if os.path.exists(path):
            return
        from looptasks.core.progress import note  # noqa: PLC0415 - only after a crash

        added = note(iteration).encode()
        shared = self.stage(stage, "progress.md")
        if added not in (read_bytes(shared) or b""):
            with storing(shared), open(shared, "ab") as file:
                file.write(added)
        write_whole(self.iteration(stage, iteration.number, "progress.md"), added)
        self.point_to(stage, iteration.number)
        write_json(path, state_of(iteration))

    def point_to(self, stage: str, number: int) -> None:
        """Let `current` be the link to an iteration."""
        link = self.stage(stage, "current")
        temporary = beside(link)
        with storing(link):
            os.symlink(f"iterations/{padded(number)}", temporary)
            os.replace(temporary, link)

    def outputs(self, stage: str) -> dict[str, str]:
        """Return path and digest of each file that a stage hands on."""
        return {
            name: SUPPOSED if name == self.supposed else digest_of(path)
            for path in self.output_files(stage)
            if (name := os.path.relpath(path, self.root))
        }

    def output_files(self, stage: str) -> Iterator[str]:
        """Return the files that a stage hands on, in order."""
        for parent, folders, files in os.walk(self.stage(stage, "output")):
            folders.sort()
            for name in sorted(files):
                # What is rendered from JSON says nothing that the JSON does not,
                # and what a killed run was about to write says nothing at all.
                rendered = name.removesuffix(".md") + ".json" in files
                if not rendered and not name.endswith(".tmp"):
                    yield os.path.join(parent, name)

    def archive_stage(self, stage: str, stamp: str) -> str:
        """Move a stage's whole folder to the archive, by one rename."""
        return self._archive(self.stage(stage), stage, stamp)

    def archive_iterations(self, stage: str, after: int, last: int, stamp: str) -> str:
        """Move the iterations after a number to the archive."""
        target = ""
        for number in range(after + 1, last + 1):
            path = self.iteration(stage, number)
            if os.path.isdir(path):
                target = self._archive(path, f"{stage}-{padded(number)}", stamp)
        return target

    def _archive(self, path: str, name: str, stamp: str) -> str:
        if not os.path.isdir(path):
            return ""
        base = os.path.join(self.root, HOME, ARCHIVE, self.session)
        target = os.path.join(base, f"{name}-{compact(stamp)}")
        make_folder(os.path.dirname(target))
        return moved(path, target, self.root)

    def write_state(self, state: Mapping[str, Any]) -> None:
        """Replace a stage's `state.json`."""
        write_json(self.stage(state["stage"], "state.json"), state)

    def publish(self, record: StageRecord, names: Mapping[int, str]) -> None:
        """Hand on the outputs of some iterations, touching only what differs."""
        folder = self.clear_output(record.name, names.values())
        for number, name in names.items():
            source = self.iteration(record.name, number, "output.md")
            target = os.path.join(folder, name)
            if digest_of(source) != digest_of(target):
                copy_whole(source, target)

    def clear_output(self, stage: str, keep: Iterable[str]) -> str:
        """Move what a stage hands on no longer to the archive; return the folder."""
        folder = self.stage(stage, "output")
        make_folder(folder)
        for stale in set(os.listdir(folder)).difference(keep):
            with storing(folder):
                os.replace(os.path.join(folder, stale), self._shelf(stage, stale))
        return folder

    def _shelf(self, stage: str, name: str) -> str:
        base = os.path.join(self.root, HOME, ARCHIVE, self.session)
        path = os.path.join(base, f"{stage}-output-{name}")
        make_folder(os.path.dirname(path))
        return _free(path)

    def write_board(self, text: str) -> None:
        """Replace `PROGRESS.md` if it says something new."""
        write_if_changed(self.file("PROGRESS.md"), text.encode())


def stage_state(
    session: str, loop: str, record: StageRecord, *, whole: bool
) -> dict[str, Any]:
    """Return a stage's `state.json`: a small head, or whole with its history."""
    done = len(record.iterations)
    return {
        "schema": 1,
        "session": session,
        "stage": record.name,
        "loop": loop,
        "status": record.status,
        "iteration": done,
        "iteration_completed": done,
        "iteration_started": record.iterations[-1].started_at if done else None,
        "started_at": record.started_at,
        "updated_at": record.updated_at,
        "history": [history_entry(i) for i in record.iterations] if whole else [],
        "completion_reason": record.reason or None,
        "cost_usd": record.spending.cost,
        "tokens": record.spending.tokens,
    }


def session_names(root: str) -> list[str]:
    """Return the sessions that there are."""
    try:
        with os.scandir(os.path.join(root, HOME)) as entries:
            return sorted(
                entry.name
                for entry in entries
                if entry.is_dir(follow_symlinks=False)
                and entry.name != ARCHIVE
                and os.path.exists(os.path.join(entry.path, "ledger.jsonl"))
            )
    except (FileNotFoundError, NotADirectoryError):
        return []


def archive_session(root: str, session: str, stamp: str) -> str:
    """Move a whole session to the archive, and return where it went."""
    base = os.path.join(root, HOME, ARCHIVE)
    make_folder(base)
    target = os.path.join(base, f"{session}-{compact(stamp)}")
    return moved(os.path.join(root, HOME, session), target, root)


def moved(path: str, target: str, root: str) -> str:
    """Rename a folder to a free name, and return that, relative to the project."""
    target = _free(target)
    with storing(path):
        os.rename(path, target)
    return os.path.relpath(target, root)


def _free(path: str) -> str:
    candidate, count = path, 1
    while os.path.lexists(candidate):
        count += 1
        candidate = f"{path}-{count}"
    return candidate


def copy_whole(source: str, target: str, *, durable: bool = False) -> str:
    """Copy a file of any size, replacing the target whole; return its digest."""
    temporary = beside(target)
    with storing(target):
        writer = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        try:
            digest = _poured(source, writer)
            os.replace(temporary, target)
            if durable:
                os.fsync(writer)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
        finally:
            os.close(writer)
    return digest


def _poured(source: str, writer: int) -> str:
    state = hashlib.sha256()
    reader = os.open(source, os.O_RDONLY)
    try:
        while block := os.read(reader, _CHUNK):
            state.update(block)
            write_all(writer, block)
    finally:
        os.close(reader)
    return state.hexdigest()


def compact(stamp: str) -> str:
    """Return a time stamp that can be part of a file's name.

    >>> compact("2026-03-01T10:05:00.123Z")
    '20260301T100500.123Z'
    """
    return stamp.replace("-", "").replace(":", "")


def inputs_of(path: str) -> dict[str, Any]:
    """Return an iteration's `inputs.json`, empty when there is none."""
    value = read_json(path)
    return value if isinstance(value, dict) else {}

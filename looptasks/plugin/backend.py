"""A session journal: doit's memory of finished tasks, one appended line for each.

doit's own backends write when the run ends, so a killed run forgets all it did. The
journal is only a cache: any line that cannot be read is a task that is checked again.
"""

# Imported by every doit command of the environment, whosever project it is: what costs
# start-up time is imported where it is needed.
import fcntl  # doit has loaded it already
import os
from typing import Any, Protocol

_SESSION_TASKS = ("loop:", "pipeline:", "stage:", "bead:", "wave:")
_COMMITTING = ("deps:", "ignore:")  # what doit sets last when it saves a task
_REMOVED = b"-"
_MANY_LINES = 1000
_DEAD_SHARE = 4

Entry = dict[str, Any]


class Codec(Protocol):
    """doit's codec: a task's data to one line of text, and back."""

    def encode(self, data: Entry) -> str:
        """Return the data as text."""

    def decode(self, data: str) -> Any:
        """Return the data that the text holds."""


class Journal:
    """One file, `task TAB data NEWLINE` per finished task, `-` for a forgotten one.

    Without a path it lives in memory. Nothing is opened before it is needed.
    """

    def __init__(self, path: str, codec: Codec) -> None:
        self.path = path
        self._codec = codec
        self._lines: dict[bytes, bytes] | None = None
        self._entries: dict[str, Entry] = {}
        self._written = 0
        self._descriptor: int | None = None
        self._torn = False

    def entry(self, task: str) -> Entry | None:
        """Return what is known of a task."""
        known = self._entries.get(task)
        if known is None:
            line = self._loaded().get(_key(task), _REMOVED)
            known = None if line == _REMOVED else self._decoded(line)
            if known is not None:
                self._entries[task] = known
        return known

    def change(self, task: str, field: str, value: Any) -> None:
        """Set one field of a task, in memory."""
        entry = self.entry(task)
        if entry is None:
            entry = self._entries[task] = {}
        entry[field] = value

    def commit(self, task: str) -> None:
        """Append what is known of a task, unless the file says the same already."""
        self._append({_key(task): self._codec.encode(self._entries[task]).encode()})

    def remove(self, task: str) -> None:
        """Forget a task."""
        self._entries.pop(task, None)
        if _key(task) in self._loaded():
            self._append({_key(task): _REMOVED})

    def remove_all(self) -> None:
        """Forget every task."""
        self._entries.clear()
        self._append(dict.fromkeys(self._loaded(), _REMOVED))

    def close(self) -> None:
        """Let go of the file, leaving it small."""
        if self._descriptor is None:
            return
        if self._is_mostly_dead():
            _compact(self.path, self._descriptor)
        os.close(self._descriptor)
        self._descriptor = None

    def _loaded(self) -> dict[bytes, bytes]:
        if self._lines is None:
            lines = _read_lines(self.path) if self.path else []
            self._written = len(lines)
            self._lines = _last_words(lines)
        return self._lines

    def _decoded(self, line: bytes) -> Entry | None:
        try:
            entry = self._codec.decode(line.decode())
        except ValueError:
            return None
        return entry if isinstance(entry, dict) else None

    def _append(self, words: dict[bytes, bytes]) -> None:
        lines = self._loaded()
        news = {key: word for key, word in words.items() if lines.get(key) != word}
        lines.update(news)
        self._written += len(news)
        if self.path and news:
            self._write(b"".join(b"%b\t%b\n" % new for new in news.items()))

    def _write(self, data: bytes) -> None:
        from looptasks.effects.files import storing  # noqa: PLC0415 - see the top

        with storing(self.path):
            if self._descriptor is None:
                self._descriptor = _open(self.path)
                self._torn = _ends_torn(self._descriptor)
            data = b"\n" + data if self._torn else data
            # One write at the end of the file: other processes' lines stay whole.
            self._torn = os.write(self._descriptor, data) < len(data)

    def _is_mostly_dead(self) -> bool:
        live = sum(word != _REMOVED for word in self._loaded().values())
        return self._written > max(_MANY_LINES, _DEAD_SHARE * live)


class SessionJournal:
    """doit's backend: the session's tasks in its folder, all others in `name`."""

    desc = "append-only journal that survives a killed run"

    def __init__(
        self, name: str, codec: Codec, *, module_name: str | None = None
    ) -> None:
        self.name = name
        self.codec = codec
        self._project = Journal(name, codec)
        self._session = Journal("", codec)

    def use_session(self, folder: str) -> None:
        """Keep the session's tasks in `folder`; until then they are in memory only."""
        path = os.path.join(folder, "doit.db")
        if path != self._session.path:
            self._session.close()
            self._session = Journal(path, self.codec)

    def set(self, task_id: str, dependency: str, value: Any) -> None:
        """Store a value; the task is on disk when doit has set the last of them."""
        journal = self._of(task_id)
        journal.change(task_id, dependency, value)
        if dependency in _COMMITTING:
            journal.commit(task_id)

    def get(self, task_id: str, dependency: str) -> Any:
        """Return a stored value, None when there is none."""
        entry = self._of(task_id).entry(task_id)
        return None if entry is None else entry.get(dependency)

    def in_(self, task_id: str) -> bool:
        """Tell whether anything is known of a task."""
        return self._of(task_id).entry(task_id) is not None

    def remove(self, task_id: str) -> None:
        """Forget a task."""
        self._of(task_id).remove(task_id)

    def remove_all(self) -> None:
        """Forget every task, the session's and the others."""
        self._project.remove_all()
        self._session.remove_all()

    def dump(self) -> None:
        """Close the files; what they hold was written as it happened."""
        self._project.close()
        self._session.close()

    def _of(self, task: str) -> Journal:
        return self._session if task.startswith(_SESSION_TASKS) else self._project


def _key(task: str) -> bytes:
    # Whatever a task is called, its key has no tab and no line break.
    if task.isascii() and task.isprintable() and "\\" not in task:
        return task.encode()
    return task.encode("unicode_escape")


def _read_lines(path: str) -> list[bytes]:
    try:
        with open(path, "rb") as file:
            return file.read().split(b"\n")[:-1]  # the rest is a torn line, or nothing
    except OSError:
        return []


def _last_words(lines: list[bytes]) -> dict[bytes, bytes]:
    parts = (line.partition(b"\t") for line in lines)
    return {key: word for key, tab, word in parts if tab}


def _open(path: str) -> int:
    """Open for appending, under a lock that keeps compaction by others away."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
        _lock(descriptor, exclusive=False)
        if _is_at(path, descriptor):
            return descriptor
        os.close(descriptor)  # it was compacted away while we waited for the lock


def _lock(descriptor: int, *, exclusive: bool) -> bool:
    how = fcntl.LOCK_EX | fcntl.LOCK_NB if exclusive else fcntl.LOCK_SH
    try:
        fcntl.flock(descriptor, how)
    except OSError:
        return False  # held by someone, or a file system without locks
    return True


def _is_at(path: str, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _ends_torn(descriptor: int) -> bool:
    size = os.fstat(descriptor).st_size
    return size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"


def _compact(path: str, descriptor: int) -> None:
    """Rewrite the journal with its last words only, if nobody else is appending."""
    if not _lock(descriptor, exclusive=True) or not _is_at(path, descriptor):
        return
    from looptasks.effects.files import write_whole  # noqa: PLC0415 - see the top

    words = _last_words(_read_lines(path))
    live = (item for item in words.items() if item[1] != _REMOVED)
    write_whole(path, b"".join(b"%b\t%b\n" % item for item in live))

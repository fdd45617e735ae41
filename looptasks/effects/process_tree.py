"""A process tree: who runs below whom, and how to end them all."""

# The public `signal` and `ctypes` double the keeper's start-up (enum, struct).
import _signal  # type: ignore[import-not-found]
import os
import time

TERM: int = _signal.SIGTERM
KILL: int = _signal.SIGKILL
CONT: int = _signal.SIGCONT

Table = dict[int, tuple[int, int]]

_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_EXEC = 0.01  # seconds that an exec may take
_LOOKS = 2
_PATIENCE = 3.0
_PROC = os.path.exists("/proc/self/stat")


def adopt_orphans() -> bool:
    """Become the parent of every orphan below this process, where that exists."""
    try:
        import _ctypes  # noqa: PLC0415 - only a keeper needs it

        prctl = _ctypes.dlsym(_ctypes.dlopen("", 0), "prctl")
        return bool(_ctypes.call_function(prctl, (_SUBREAPER, 1, 0, 0, 0)) == 0)
    except (ImportError, AttributeError, OSError):
        return False


def children() -> set[int]:
    """Return the children of this process, the adopted ones too."""
    me = os.getpid()
    try:
        listed = _read(f"/proc/{me}/task/{me}/children")
    except OSError:
        return {pid for pid, (parent, _) in table().items() if parent == me}
    return {int(pid) for pid in listed.split()}


def table() -> Table:
    """Return parent and group of every process that is alive."""
    if not _PROC:
        return {pid: (parent, group) for pid, parent, group, _ in _ps()}
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (row := _row(name)):
            found[int(name)] = row
    return found


def below(roots: set[int], rows: Table) -> set[int]:
    """Return the live ones among the roots, and all that runs below them."""
    brood: dict[int, list[int]] = {}
    for pid, (parent, _) in rows.items():
        brood.setdefault(parent, []).append(pid)
    found: set[int] = set()
    todo = list(roots)
    while todo:
        pid = todo.pop()
        if pid not in found:
            found.add(pid)
            todo.extend(brood.get(pid, ()))
    return found & rows.keys()


def carries(pid: int, mark: bytes) -> bool:
    """Whether the process was started with `mark` (NAME=VALUE), or one below it."""
    environ = b"\0" + _environ(pid) + b"\0"
    return b"\0" + mark + b"\0" in environ or b"\0" + mark + b"/" in environ


def carriers(pids: set[int], mark: bytes) -> set[int]:
    """Return those of the processes that carry the mark.

    For a moment of its exec a process shows no environment: look again then.
    """
    until = time.monotonic() + _EXEC
    while True:
        found = {pid for pid in pids if carries(pid, mark)}
        blank = (pid for pid in pids - found if not _environ(pid) and _row(str(pid)))
        if not any(blank) or time.monotonic() >= until:
            return found
        time.sleep(0.001)


def marked(mark: bytes) -> set[int]:
    """Return every process that carries the mark."""
    if _PROC:
        pids = (int(name) for name in os.listdir("/proc") if name.isdigit())
        return {pid for pid in pids if carries(pid, mark)}
    return {
        pid
        for pid, _, _, words in _ps()
        if any(word == mark or word.startswith(mark + b"/") for word in words)
    }


def dies_of_term(pid: int) -> bool:
    """Whether TERM would end the process on the spot: not caught, ignored, blocked."""
    try:
        status = _read(f"/proc/{pid}/status")
    except OSError:
        return False
    held = 0
    for line in status.splitlines():
        if line.startswith((b"SigBlk:", b"SigIgn:", b"SigCgt:")):
            held |= int(line.split()[1], 16)
    return b"SigCgt:" in status and not held & 1 << (TERM - 1)


def warn(pids: list[int]) -> None:
    """Ask the processes to end, also the stopped ones."""
    for pid in pids:
        _kill(pid, TERM)
        _kill(pid, CONT)


def kill(pids: set[int], rows: Table) -> None:
    """End the processes, with their groups: a fork cannot slip out of a group."""
    groups = {rows[pid][1] for pid in pids if pid in rows} - {0, 1, os.getpgrp()}
    for group in groups:
        kill_group(group)
    for pid in pids:
        _kill(pid, KILL)


def kill_group(group: int) -> None:
    """End every process of the group."""
    try:
        os.killpg(group, KILL)
    except OSError:  # gone, or not ours to end: what is left is looked for anyway
        return


def end_marked(mark: bytes, grace: float) -> int:
    """End everything that carries the mark, and all below; return how many."""
    seen: set[int] = set()
    start = time.monotonic()
    empty = 0
    # Twice, because in the middle of its exec a process shows no mark.
    while empty < _LOOKS and time.monotonic() < start + grace + _PATIENCE:
        left = _marked_tree(mark)
        empty = 0 if left else empty + 1
        if time.monotonic() >= start + grace:
            kill(left, table())
        else:
            warn(sorted(left - seen))
        seen |= left
        time.sleep(_EXEC)
    return len(seen)


def see_off(mark: bytes, patience: float) -> None:
    """Give what carries the mark time to end by itself, then end it."""
    until = time.monotonic() + patience
    while left := marked(mark) - _line_of(os.getpid(), table()):
        if time.monotonic() >= until:
            for pid in left:
                _kill(pid, KILL)
            return
        time.sleep(0.01)


def _marked_tree(mark: bytes) -> set[int]:
    rows = table()
    return below(marked(mark) - _line_of(os.getpid(), rows), rows) - {os.getpid()}


def _line_of(pid: int, rows: Table) -> set[int]:
    # An agent may take over the run that it is part of: spare what it hangs on.
    line: set[int] = set()
    while pid in rows and pid not in line:
        line.add(pid)
        pid = rows[pid][0]
    return line


def _row(name: str) -> tuple[int, int] | None:
    try:
        stat = _read(f"/proc/{name}/stat")
    except OSError:
        return None
    # The program's name stands in brackets, and may hold brackets and spaces.
    state, parent, group = stat.rpartition(b")")[2].split()[:3]
    return None if state in (b"Z", b"X") else (int(parent), int(group))


def _environ(pid: int) -> bytes:
    try:
        return _read(f"/proc/{pid}/environ")
    except OSError:
        return b""


def _read(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY)
    try:
        parts = []
        while part := os.read(fd, 65536):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(fd)


def _kill(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        return


def _ps() -> list[tuple[int, int, int, list[bytes]]]:
    # For macOS: -E adds the environment to the command of one's own processes.
    import subprocess  # noqa: PLC0415 - costs the keeper 14 ms, and only here

    argv = ("ps", "-axwwE", "-o", "pid=,ppid=,pgid=,stat=,command=")
    listed = subprocess.run(argv, capture_output=True, check=False).stdout
    rows = (line.split() for line in listed.splitlines())
    return [
        (int(row[0]), int(row[1]), int(row[2]), row[4:])
        for row in rows
        if len(row) > 3 and not row[3].startswith(b"Z")  # noqa: PLR2004
    ]

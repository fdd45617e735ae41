"""A spawn: the start of one program, in a session of its own."""

import _signal  # type: ignore[import-not-found]
import errno
import os
import time

MARK = b"LOOPTASKS_CALL"
KEEPER = b"LOOPTASKS_KEEPER"
_INHERITED = {name: text for name, text in os.environb.items() if name != KEEPER}
_PATIENCE = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)  # seconds between tries
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
_RESET = [
    _signal.SIGHUP,
    _signal.SIGINT,
    _signal.SIGQUIT,
    _signal.SIGTERM,
    _signal.SIGPIPE,
    _signal.SIGXFSZ,
]


class Request:
    """What the runner asked for, all of it in bytes."""

    __slots__ = (
        "argv",
        "cwd",
        "env",
        "exact",
        "idle",
        "record",
        "stderr",
        "stdin",
        "stdout",
        "timeout",
    )

    argv: list[bytes]
    cwd: bytes
    env: dict[bytes, bytes]
    exact: bool
    stdin: bytes
    stdout: bytes
    stderr: bytes
    record: bytes
    timeout: float | None
    idle: float | None

    def __init__(self, fields: dict[str, object]) -> None:
        for name, value in fields.items():
            setattr(self, name, value)


def growth(request: Request) -> tuple[tuple[int, int], float]:
    """Return how much it has written so far, and for how long nothing more."""
    sizes, latest = [0, 0], 0.0
    for at, path in enumerate((request.stdout, request.stderr)):
        try:
            stat = os.stat(path)
        except OSError:
            continue
        sizes[at] = stat.st_size
        latest = max(latest, stat.st_mtime)
    return (sizes[0], sizes[1]), time.time() - latest


def spawn(request: Request, mark: bytes) -> int:
    """Start what the request names, and return its process id.

    A script is busy for a moment when whoever wrote it has just forked.
    """
    for pause in _PATIENCE:
        try:
            return _spawned(request, mark)
        except OSError as error:
            if error.errno != errno.ETXTBSY:
                raise
            time.sleep(pause)
    return _spawned(request, mark)


def _spawned(request: Request, mark: bytes) -> int:
    name, _, value = mark.partition(b"=")
    env = {**({} if request.exact else _INHERITED), **request.env, name: value}
    os.chdir(request.cwd)
    return os.posix_spawn(
        _program(request.argv[0], env.get(b"PATH", os.defpath.encode())),
        request.argv,
        env,
        file_actions=_streams(request),
        setsid=True,
        setsigmask=[],
        setsigdef=_RESET,
    )


def _streams(request: Request) -> list[tuple[object, ...]]:
    null = os.devnull.encode()
    same = request.stderr == request.stdout
    err = (
        (os.POSIX_SPAWN_DUP2, 1, 2)
        if same
        else (os.POSIX_SPAWN_OPEN, 2, request.stderr or null, _CREATE, 0o666)
    )
    return [
        (os.POSIX_SPAWN_OPEN, 0, request.stdin or null, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, request.stdout or null, _CREATE, 0o666),
        err,
    ]


def _program(name: bytes, path: bytes) -> bytes:
    if b"/" in name:
        return name
    for folder in path.split(b":"):
        candidate = os.path.join(folder, name)
        if os.access(candidate, os.X_OK) and not os.path.isdir(candidate):
            return candidate
    raise FileNotFoundError(2, "not found on PATH")


def blame(request: Request, error: OSError | ValueError) -> str:
    """Find which of the names the error is about: the system does not say."""
    for path, flags in (
        (request.cwd, os.O_RDONLY | os.O_DIRECTORY),
        (request.stdin, os.O_RDONLY),
        (request.stdout, os.O_WRONLY | os.O_CREAT),
        (request.stderr, os.O_WRONLY | os.O_CREAT),
    ):
        try:
            os.close(os.open(path or os.devnull.encode(), flags, 0o666))
        except OSError as mine:
            return f"cannot use `{os.fsdecode(path)}`: {mine.strerror}"
    why = error.strerror if isinstance(error, OSError) else error
    return f"cannot start `{os.fsdecode(request.argv[0])}`: {why}"

"""A short command: run to its end, its output read as lines."""

import subprocess

from looptasks.errors import LoopError

_LIMIT = 60


def lines_of(argv: tuple[str, ...], cwd: str) -> list[str]:
    """Return the lines that a command prints; a failure is an error in words."""
    try:
        done = subprocess.run(
            argv,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_LIMIT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LoopError(f"`{argv[-1]}` did not run: {error}") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise LoopError(
            f"`{argv[-1]}` failed with exit code {done.returncode}"
            + (f": {said[-1]}" if said else ""),
            fix="run it by hand in the project's folder, and mend it",
        )
    return done.stdout.decode("utf-8", "replace").splitlines()

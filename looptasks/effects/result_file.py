"""A result file: how a process ended, written before anyone is told.

It survives the death of its runner. Against the loss of power it is the runner who
syncs, when much is still to be done before the ledger has the iteration.
"""

import os

# In the order of `Ended`, which the keeper does not import: typing costs it 11 ms.
Outcome = tuple[str, int | None, int | None, str, str, float, str]


def write(path: bytes, outcome: Outcome) -> None:
    """Write the outcome whole: a reader sees all of it or nothing."""
    aside = path + b".tmp"
    fd = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
    try:
        _write_all(fd, as_json(outcome).encode())
    except OSError:
        os.unlink(aside)
        raise
    finally:
        os.close(fd)
    os.replace(aside, path)


def as_json(outcome: Outcome) -> str:
    """Return the outcome as a line of JSON."""
    how, exit_code, number, started, finished, seconds, detail = outcome
    return (
        f'{{"schema": 1, "how": "{how}", "exit_code": {_number(exit_code)}, '
        f'"signal": {_number(number)}, "started_at": "{started}", '
        f'"finished_at": "{finished}", "seconds": {seconds:.6f}, '
        f'"detail": {_quoted(detail)}}}\n'
    )


def _number(value: int | None) -> str:
    return "null" if value is None else str(value)


def _quoted(text: str) -> str:
    if not text:
        return '""'
    import json  # noqa: PLC0415 - doubles the keeper's start, and is seldom needed

    return json.dumps(text)


def _write_all(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]

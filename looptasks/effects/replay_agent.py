"""A replay agent: plays back what an agent was once recorded to do."""

import glob
import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from looptasks.core.agent import Answer, Call
from looptasks.core.process import Ended, How
from looptasks.core.taskname import padded
from looptasks.effects import folder_tree, result_file
from looptasks.effects.attempt_folder import USAGE, answer_in
from looptasks.effects.files import (
    make_folder,
    read_bytes,
    read_json,
    storing,
    write_whole,
)
from looptasks.effects.system_clock import stamp
from looptasks.errors import LoopError

ARTIFACT = "artifact.json"
_SCRIPT = "replay.json"
_STEP = 0.05


class _Script(NamedTuple):
    """How a recorded call is to end, and which words of a prompt it answers."""

    exit_code: int = 0
    seconds: float = 0.0
    when: str = ""


class ReplayAgent:
    """Plays the folder `STAGE/0001` (or `0001`) of a recording for iteration 1.

    A folder `0001.NAME` beside it is played instead if its words are in the prompt.
    `stopped` is asked while a recorded call takes its time: it ends the call early.
    """

    name = "replay"

    def __init__(self, folder: str, stopped: Callable[[], bool] = bool) -> None:
        self._folder = folder
        self._stopped = stopped

    def call(self, call: Call) -> None:
        """Do what was recorded, leaving stdout, stderr and result.json."""
        start = time.time(), time.monotonic()
        try:
            make_folder(call.folder)
            how, code = self._play(call)
            _finish(call, start, how, code)
        except LoopError as error:
            with suppress(LoopError):
                write_whole(f"{call.folder}/stderr", f"{error}\n".encode())
            _finish(call, start, "unstartable", None, str(error))
        except KeyboardInterrupt:
            _finish(call, start, "interrupted", None)
            raise

    def read(self, folder: str) -> Answer | None:
        """Return what the attempt in `folder` came to; None when it never ended."""
        return answer_in(folder)

    def _play(self, call: Call) -> tuple[How, int | None]:
        for name in ("stdout", "stderr"):
            write_whole(f"{call.folder}/{name}", b"")
        source = self._source(call)
        script = _script(source)
        how = self._wait(script.seconds, call.timeout)
        if how != "exit":
            return how, None
        _change_files(source, call.cwd)
        if os.path.exists(f"{source}/{USAGE}"):
            folder_tree.copy_file(f"{source}/{USAGE}", f"{call.folder}/{USAGE}")
        target = call.env.get("LOOP_ARTIFACT", "")
        if target and os.path.lexists(f"{source}/{ARTIFACT}"):
            folder_tree.copy_file(f"{source}/{ARTIFACT}", target)
        folder_tree.copy_file(f"{source}/output.md", f"{call.folder}/stdout")
        return "exit", script.exit_code

    def _source(self, call: Call) -> str:
        number = padded(call.iteration)
        own = folder_tree.place(self._folder, call.stage)
        role = "judge/" if call.stage.endswith("/judge") else ""
        inner = f"{call.stage}/{number}" if os.path.isdir(own) else f"{role}{number}"
        inner += _variant(folder_tree.place(self._folder, inner), call.prompt)
        output = folder_tree.place(self._folder, f"{inner}/output.md")
        if os.path.islink(output) or not os.path.isfile(output):
            raise LoopError(
                f"the recording has no iteration {call.iteration}: "
                f"`{os.path.join(self._folder, inner, 'output.md')}` is missing",
                fix="record it with `record=FOLDER`, or lower `max=`",
            )
        return os.path.dirname(output)

    def _wait(self, seconds: float, limit: float | None) -> How:
        until = time.monotonic() + min(seconds, seconds if limit is None else limit)
        while (left := until - time.monotonic()) > 0:
            if self._stopped():
                return "interrupted"
            time.sleep(min(left, _STEP))
        return "exit" if limit is None or seconds <= limit else "timeout"


def _variant(plain: str, prompt: str) -> str:
    """Return how the folder of an answer to this very prompt ends, if there is one."""
    above, number = os.path.split(plain)
    for path in sorted(glob.glob(f"{glob.escape(above)}/{number}.*/{_SCRIPT}")):
        when = _script(os.path.dirname(path)).when.encode()
        if when and when in (read_bytes(prompt) or b""):
            return os.path.dirname(path).removeprefix(plain)
    return ""


def _change_files(source: str, cwd: str) -> None:
    written, gone = _written(source), _gone(source)
    # All are looked at before the first is touched: a bad recording changes nothing.
    targets = [folder_tree.place(cwd, path) for path in (*written, *gone)]
    for path, target in zip(written, targets, strict=False):
        folder_tree.copy_file(f"{source}/files/{path}", target)
    for target in targets[len(written) :]:
        folder_tree.remove_file(target)


def _written(source: str) -> list[str]:
    files = f"{source}/files"
    return folder_tree.plain_files(files) if os.path.lexists(files) else []


def _gone(source: str) -> list[str]:
    path = f"{source}/deleted.json"
    if not os.path.lexists(path):
        return []
    listed = read_json(path)
    if not isinstance(listed, list) or not all(isinstance(p, str) for p in listed):
        raise _bad(path, "is not a list of paths")
    return listed


def _script(source: str) -> _Script:
    path = f"{source}/{_SCRIPT}"
    if not os.path.lexists(path):
        return _Script()
    found: Any = read_json(path)
    try:
        script = _Script(
            int(found.get("exit_code", 0)),
            float(found.get("seconds", 0)),
            str(found.get("when", "")),
        )
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        raise _bad(path, 'is not like {"exit_code": 0, "seconds": 0.0}') from error
    if not 0 <= script.seconds < float("inf"):
        raise _bad(path, "has `seconds` that cannot pass")
    return script


def _bad(path: str, why: str) -> LoopError:
    return LoopError(why, where=path, fix="mend it, or record anew with `record=`")


def _finish(
    call: Call,
    start: tuple[float, float],
    how: How,
    code: int | None,
    detail: str = "",
) -> None:
    epoch, began = start
    took = time.monotonic() - began
    times = stamp(epoch), stamp(epoch + took), took
    path = f"{call.folder}/result.json"
    with storing(path):
        result_file.write(os.fsencode(path), Ended(how, code, None, *times, detail))

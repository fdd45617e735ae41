"""An iteration's folder: prompt, attempts, output, check, and the record of it."""

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from looptasks.core.agent import Answer
from looptasks.core.digest import of_value
from looptasks.core.iteration import Iteration, state_of
from looptasks.core.progress import header, note
from looptasks.effects.files import (
    make_folder,
    read_all,
    read_json,
    storing,
    sync,
    write_all,
    write_json,
    write_whole,
)
from looptasks.effects.project_files import digest_of
from looptasks.effects.prompt_files import file_variables
from looptasks.effects.scrub import PRINTED, scrub
from looptasks.effects.session_folder import SessionFolder, copy_whole, inputs_of

_CHUNK, _LOG = 1 << 20, 20_000

Record = Callable[[Iteration], None]


class IterationFolder:
    """The folder of one iteration, as the runner sees it.

    `record` puts the finished iteration into the ledger; `stamp` tells the time.
    """

    def __init__(
        self,
        session: SessionFolder,
        stage: tuple[str, str, tuple[str, ...]],
        number: int,
        record: Record,
        stamp: Callable[[], str],
    ) -> None:
        self._session = session
        self._stage, self._validate, self._inputs = stage
        self._number = number
        self._record = record
        self._stamp = stamp
        self._path = session.iteration(self._stage, number)
        self._progress_size = 0

    def prepare(self, generation: int, inputs: Mapping[str, str]) -> None:
        """Make it, moving what an older generation left there to the archive."""
        known = inputs_of(self._file("inputs.json"))
        current = {
            "schema": 1,
            "generation": generation,
            "digest": of_value(dict(inputs)),
            "files": dict(inputs),
        }
        if known != current:
            if os.path.isdir(self._file("attempts")):
                number = self._number
                self._session.archive_iterations(
                    self._stage, number - 1, number, self._stamp()
                )
            make_folder(self._path)
            write_json(self._file("inputs.json"), current)
        self._start_progress()

    def _start_progress(self) -> None:
        path = self._session.stage(self._stage, "progress.md")
        try:
            self._progress_size = os.stat(path).st_size
        except FileNotFoundError:
            text = header(self._session.session, self._stage, self._validate).encode()
            write_whole(path, text)
            self._progress_size = len(text)

    def attempts(self) -> list[str]:
        """Return the folders of attempts made so far, oldest first."""
        folder = self._file("attempts")
        try:
            numbers = sorted(int(name) for name in os.listdir(folder))
        except (FileNotFoundError, ValueError):
            return []
        return [f"{folder}/{number}" for number in numbers]

    def new_attempt(self) -> str:
        """Make the folder of the next attempt; a half-written answer moves aside."""
        before = self.attempts()
        folder = self._file("attempts")
        make_folder(folder)
        path = f"{folder}/{len(before) + 1}"
        make_folder(path)
        output = self._file("output.md")
        if before and os.path.exists(output):
            with storing(output):
                os.replace(output, f"{before[-1]}/output.md")
        return path

    def variables(self, prompt: str) -> dict[str, str]:
        """Return the variables of a prompt that come from files."""
        progress = self._session.stage(self._stage, "progress.md")
        return {
            "PROGRESS": progress,
            "PROGRESS_FILE": progress,
            "OUTPUT": self._file("output.md"),
            **file_variables(self._session, self._inputs, prompt),
        }

    def write_prompt(self, text: str) -> str:
        """Keep the prompt, and return its path."""
        path = self._file("prompt.md")
        write_whole(path, text.encode())
        return path

    def previous_log(self) -> str:
        """Return the end of what the check of the iteration before printed."""
        path = self._session.iteration(self._stage, self._number - 1, "validation.log")
        try:
            with open(path, "rb") as file:
                file.seek(max(os.path.getsize(path) - _LOG, 0))
                return file.read().decode("utf-8", "replace")
        except FileNotFoundError:
            return ""

    def save_answer(self, answer: Answer | None, attempt: str) -> None:
        """Write the verdict into the attempt's `result.json`; None if there is none.

        A check may take long: until it is over, this file is all that says that the
        agent was paid.
        """
        path = f"{attempt}/result.json"
        for name in PRINTED:
            scrub(f"{attempt}/{name}")
        scrub(self._file("prompt.md"))
        if answer is None:
            return
        facts = read_json(path)
        value = {**(facts or {"schema": 1}), **_verdict(answer)}
        write_json(path, value, durable=bool(self._validate))

    def save_output(self, text: str) -> str:
        """Keep the answer as `output.md`; return the digest of its content."""
        path = self._file("output.md")
        if not os.path.exists(path):
            return copy_whole(text, path, durable=True)
        scrub(path)
        sync(path)
        return digest_of(path)

    def chunks(self, text: str) -> Iterator[str]:
        """Return a text file's content in pieces of whole lines."""
        with open(text, "rb") as file:
            rest = b""
            while block := file.read(_CHUNK):
                head, newline, tail = (rest + block).rpartition(b"\n")
                yield (head + newline).decode("utf-8", "replace")
                rest = tail[-_CHUNK:]
            yield rest.decode("utf-8", "replace")

    def log(self) -> str:
        """Return the path of the check's log."""
        return self._file("validation.log")

    def close_log(self) -> None:
        """Let nothing in the check's log that must not be kept."""
        scrub(self.log())

    def append_log(self, text: str) -> None:
        """Add to the check's log."""
        with storing(self.log()), open(self.log(), "a", encoding="utf-8") as file:
            file.write(text)

    def settle(self, iteration: Iteration) -> None:
        """Record the finished iteration: ledger first, then what derives from it."""
        self._record(iteration)
        self._grow_progress(note(iteration).encode())
        self._session.point_to(self._stage, self._number)
        # Last of all: where it exists, everything else does.
        write_json(self._file("state.json"), state_of(iteration))

    def _grow_progress(self, added: bytes) -> None:
        path = self._session.stage(self._stage, "progress.md")
        if scrub(path, self._progress_size):
            self._progress_size = 0
        with storing(path):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
            try:
                write_all(descriptor, added)
                os.lseek(descriptor, self._progress_size, os.SEEK_SET)
                grown = read_all(descriptor)
            finally:
                os.close(descriptor)
        write_whole(self._file("progress.md"), grown or added)

    def _file(self, name: str) -> str:
        return f"{self._path}/{name}"


def _verdict(answer: Answer) -> dict[str, Any]:
    return {
        "verdict": answer.verdict,
        "reason": answer.reason,
        "cost_usd": answer.cost_usd,
        "tokens": answer.tokens._asdict() if answer.tokens else None,
        "model": answer.model or None,
        "session_id": answer.session_id or None,
        "turns": answer.turns,
        "estimated": answer.estimated,
        "resets_at": answer.resets_at or None,
    }

"""An iteration's folder: prompt, attempts, output, check, and the record of it."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy

from looptasks.core.digest import of_value
from looptasks.core.gate import Answer as Word
from looptasks.core.iteration import Iteration, state_of
from looptasks.core.progress import header, note, user_feedback
from looptasks.effects.call_folder import CallFolder
from looptasks.effects.files import (
    make_folder,
    read_all,
    read_bytes,
    storing,
    sync,
    write_all,
    write_json,
    write_whole,
)
from looptasks.effects.project_files import digest_of
from looptasks.effects.prompt_files import file_variables
from looptasks.effects.scrub import scrub
from looptasks.effects.session_folder import SessionFolder, copy_whole, inputs_of

_CHUNK, _LOG = 1 << 20, 20_000
# What an attempt makes beside its own folder; the judge's words are about that.
_MADE = ("output.md", "artifact.json", "judge")

Record = Callable[[Iteration], None]


class IterationFolder(CallFolder):
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
        super().__init__(self._path, durable=bool(self._validate))
        self._progress_size = 0
        self.heard = 0

    def prepare(self, generation: int, inputs: Mapping[str, str]) -> None:
        """Make it, moving what an older generation left there to the archive."""
        known = inputs_of(self._file("inputs.json"))
        self.heard = known.pop("heard", 0)
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
            self.heard = 0
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

    def hear(self, words: Sequence[Word], heard: int) -> None:
        """Put what people said into `progress.md`, once; `heard` counts their words."""
        path = self._session.stage(self._stage, "progress.md")
        known = read_bytes(path) or b""
        for word in words:
            added = user_feedback(word).encode()
            if added not in known:
                with storing(path), open(path, "ab") as file:
                    file.write(added)
        if heard != self.heard:
            self.heard = heard
            inputs = inputs_of(self._file("inputs.json"))
            write_json(self._file("inputs.json"), {**inputs, "heard": heard})

    def new_attempt(self) -> str:
        """Make the folder of the next attempt; what the last one left moves aside."""
        before = self.attempts()
        path = super().new_attempt()
        for name in _MADE if before and self.calls == self._path else ():
            made = self._file(name)
            if os.path.lexists(made):
                with storing(made):
                    os.replace(made, f"{before[-1]}/{name}")
        return path

    def judges(self) -> "IterationFolder":
        """Return the folder as the judge's calls see it: their attempts are apart."""
        other = copy(self)
        other.calls = self._file("judge")
        make_folder(other.calls)
        return other

    @property
    def artifact(self) -> str:
        """The path that the artifact belongs at."""
        return self.artifact_of(self._number)

    def artifact_of(self, number: int) -> str:
        """Return where an iteration's artifact is; empty for none."""
        path = self._session.iteration(self._stage, number, "artifact.json")
        return path if number else ""

    def variables(self, prompt: str) -> dict[str, str]:
        """Return the variables of a prompt that come from files."""
        progress = self._session.stage(self._stage, "progress.md")
        return {
            "PROGRESS": progress,
            "PROGRESS_FILE": progress,
            "OUTPUT": self._file("output.md"),
            "ARTIFACT": self.artifact,
            **file_variables(self._session, self._inputs, prompt),
        }

    def previous_log(self) -> str:
        """Return the end of what the check of the iteration before printed."""
        path = self._session.iteration(self._stage, self._number - 1, "validation.log")
        try:
            with open(path, "rb") as file:
                file.seek(max(os.path.getsize(path) - _LOG, 0))
                return file.read().decode("utf-8", "replace")
        except FileNotFoundError:
            return ""

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

    def new_log(self) -> None:
        """Begin the check's log anew."""
        with storing(self.log()), suppress(FileNotFoundError):
            os.unlink(self.log())

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

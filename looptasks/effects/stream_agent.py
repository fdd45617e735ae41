"""A stream agent: a program that tells in JSON lines what it does and came to."""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import NamedTuple

from looptasks.core.agent import Answer, Call
from looptasks.core.agent_env import passed_on
from looptasks.core.agent_settings import AgentSettings
from looptasks.core.instant import instant
from looptasks.core.process import Command, Ended, Processes
from looptasks.core.reading import Dialect, Reading
from looptasks.core.reset_time import reset_in
from looptasks.core.sandbox import is_boxed
from looptasks.core.verdict import fault_in, verdict
from looptasks.effects.attempt_folder import ended_in
from looptasks.effects.event_file import AttemptStreams
from looptasks.effects.files import write_if_changed
from looptasks.effects.scrub import clean
from looptasks.effects.stream_note import Note, note_in, write_note
from looptasks.effects.transcripts import ANSWER
from looptasks.errors import LoopError


class Launch(NamedTuple):
    """How one agent is started: words, variables, and files for as long as it runs."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = {}
    files: Mapping[str, str] = {}


class Profile(NamedTuple):
    """What tells one agent from another.

    `needs` are the variables that hold its keys and settings. `launch` is told whether
    the agent will be shut in.
    """

    dialect: Dialect
    launch: Callable[[Call, AgentSettings, bool], Launch]
    needs: tuple[str, ...] = ()


class StreamAgent:
    """Makes calls as the profile says; the answer's text goes to `answer.md`."""

    def __init__(
        self, profile: Profile, settings: AgentSettings, processes: Processes
    ) -> None:
        self._profile = profile
        self._settings = settings
        self._processes = processes

    @property
    def name(self) -> str:
        """The word for it in `state.json` and in messages."""
        return self._profile.dialect.name

    def call(self, call: Call) -> None:
        """Make the attempt, leaving stdout, stderr and result.json in its folder."""
        boxed = self._is_boxed()
        call = call._replace(
            model=call.model or self._settings.model,
            folder=os.path.abspath(call.folder),
        )
        launch = self._profile.launch(call, self._settings, boxed)
        write_note(call.folder, self.name, call.model, self._settings)
        for name, content in launch.files.items():
            write_if_changed(f"{call.folder}/{name}", content.encode())
        try:
            self._running(boxed).run(self._command(call, launch))
        finally:
            # Each agent leaves the same files behind.
            for name in launch.files:
                with suppress(FileNotFoundError):
                    os.unlink(f"{call.folder}/{name}")

    def read(self, folder: str) -> Answer | None:
        """Return what the attempt in `folder` came to; None when it never ended."""
        ended = ended_in(folder)
        if ended is None:
            return None
        reading = self.watch(folder).end()
        text = f"{folder}/{ANSWER}"
        write_if_changed(text, clean(reading.text).encode("utf-8", "replace"))
        note = note_in(folder) or Note(self._profile.dialect, self._settings.model)
        return _answer(reading, ended, text, note)

    def watch(self, folder: str) -> AttemptStreams:
        """Return what reads the attempt's streams while it runs."""
        return AttemptStreams(folder, self._profile.dialect)

    def _is_boxed(self) -> bool:
        if self._settings.sandbox == "none":
            return is_boxed(self._settings, "")
        from looptasks.effects.bubblewrap import why_not  # noqa: PLC0415

        return is_boxed(self._settings, why_not())

    def _running(self, boxed: bool) -> Processes:  # noqa: FBT001
        if not boxed:
            return self._processes
        from looptasks.effects.bubblewrap import BoxedProcesses  # noqa: PLC0415

        settings = self._settings
        return BoxedProcesses(
            self._processes, settings.writable, network=settings.network
        )

    def _command(self, call: Call, launch: Launch) -> Command:
        settings = self._settings
        exact = settings.env != "inherit"
        ours = passed_on(os.environ, settings.env, self._profile.needs) if exact else {}
        return Command(
            argv=launch.argv,
            cwd=call.cwd,
            stdin=call.prompt,
            stdout=f"{call.folder}/stdout",
            stderr=f"{call.folder}/stderr",
            record=f"{call.folder}/result.json",
            env={**ours, **launch.env, **settings.variables, **call.env},
            timeout=call.timeout,
            idle_timeout=call.idle_timeout,
            exact=exact,
        )


def program(settings: AgentSettings, name: str) -> str:
    """Return the program to start, or say that there is none."""
    import shutil  # noqa: PLC0415 - only when an agent is about to start

    wanted = settings.program or name
    found = shutil.which(wanted, path=settings.variables.get("PATH"))
    if found is None:
        raise LoopError(
            f"the agent `{name}` is not installed: `{wanted}` is not on PATH",
            fix="install it, or name where it is in "
            f'`[tool.looptasks.agents.{name}] program = "…"`',
        )
    return found


def _answer(reading: Reading, ended: Ended, text: str, note: Note) -> Answer:
    name, reason = verdict(reading, ended)
    guess = note.estimated(reading)
    return Answer(
        name,
        clean(reason),
        text,
        ended.exit_code,
        ended.started_at,
        ended.finished_at,
        ended.seconds,
        cost_usd=reading.cost_usd if guess is None else guess,
        tokens=reading.tokens,
        model=reading.model or note.model,
        session_id=reading.session_id,
        turns=reading.turns,
        estimated=guess is not None,
        resets_at=_resets_at(reading, ended) if name == "limit" else "",
    )


def _resets_at(reading: Reading, ended: Ended) -> str:
    now = (instant(ended.finished_at) or 0) / 10**9
    told = fault_in(reading) or reading.retry
    resets = reading.resets_at or (reset_in(told.message, now) if told else None)
    if resets is None:
        return ""
    try:
        return datetime.fromtimestamp(resets, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return ""

"""A tmux pane: a real terminal with a shell in it, to type into and to look at."""

import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.live_processes import within

PATIENCE = 20.0
PROMPT = "ready>"


class Pane:
    """One pane of a tmux server that nobody else uses."""

    def __init__(self, socket: str, env: Mapping[str, str]) -> None:
        self._socket = socket
        self._env = dict(env)

    def tmux(self, *words: str) -> str:
        """Give tmux a command, and return what it prints."""
        done = subprocess.run(
            ["tmux", "-S", self._socket, "-f", "/dev/null", *words],
            env=self._env,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        )
        return done.stdout

    def type(self, text: str) -> None:
        """Type a line."""
        self.tmux("send-keys", "-l", text)
        self.tmux("send-keys", "Enter")

    def press(self, key: str) -> None:
        """Press one key, by the name that tmux has for it."""
        self.tmux("send-keys", key)

    def resize(self, columns: int, lines: int) -> None:
        """Make the terminal larger or smaller."""
        self.tmux("resize-window", "-x", str(columns), "-y", str(lines))

    def screen(self) -> list[str]:
        """Return the lines that can be seen, without empty ones at the end."""
        return self.tmux("capture-pane", "-p").rstrip().split("\n")

    def story(self) -> list[str]:
        """Return all lines, also those that have scrolled away, joined if wrapped."""
        return self.tmux("capture-pane", "-p", "-J", "-S", "-").rstrip().split("\n")

    def sees(self, *texts: str) -> list[str]:
        """Wait until all texts are on the screen at once, and return its lines."""
        seen: list[str] = []

        def found() -> bool:
            seen[:] = self.screen()
            return all(text in "\n".join(seen) for text in texts)

        assert within(PATIENCE, found), f"no {texts} in\n" + "\n".join(seen)
        return seen

    def is_sane(self) -> bool:
        """Tell whether the cursor can be seen and long lines are wrapped."""
        return self.tmux("display", "-p", "#{cursor_flag}#{wrap_flag}").strip() == "11"


@contextmanager
def pane(
    folder: Path, env: Mapping[str, str], columns: int = 80, lines: int = 24
) -> Iterator[Pane]:
    """Open a terminal with a shell in a folder; `doit` there is this Python's."""
    tools = folder.parent / "tools"
    tools.mkdir(exist_ok=True)
    script = tools / "doit"
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m doit "$@"\n')
    script.chmod(0o755)
    inside = {**env, "PATH": f"{tools}:{env['PATH']}", "PS1": f"{PROMPT} "}
    words = [f"{name}={value}" for name, value in inside.items()]
    size = ("-x", str(columns), "-y", str(lines))
    shell = shlex.join(["env", *words, "sh"])
    # A socket's path must be short, and nothing removes it but we.
    with TemporaryDirectory(prefix="tmux-") as short:
        made = Pane(f"{short}/socket", env)
        made.tmux("new-session", "-d", *size, "-c", str(folder), shell)
        try:
            made.sees(PROMPT)
            yield made
        finally:
            made.tmux("kill-server")


HAS_TMUX = shutil.which("tmux") is not None

"""A line: the connection of one thread of the runner to the keeper."""

from looptasks.effects import frame
from looptasks.effects.kept_command import KeptCommand  # noqa: TC001 - typing is slow


class Line:
    """Carries one command at a time, and the reply to it."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.buffer = bytearray()
        self.kept: KeptCommand | None = None
        self.open = True

    def reply(self, message: object) -> None:
        """Tell the runner, if it still listens: the record is on disk anyway."""
        try:
            frame.send(self.fd, message)
        except OSError:
            return

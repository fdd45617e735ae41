"""A mistake that a person can mend: where it is, what is wrong, how to fix it."""


class LoopError(Exception):
    """Something went wrong that is worth a sentence, not a traceback."""

    exit_code = 3

    def __init__(self, what: str, *, where: str = "", fix: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.fix = fix

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        return f"{head}\n  fix: {self.fix}" if self.fix else head

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword arguments get lost when an exception travels between processes.
        return (_rebuild, (type(self), self.what, self.where, self.fix))


class DeclarationError(LoopError):
    """A loop or pipeline file says something that cannot be."""


class UsageError(LoopError):
    """The command line asks for something that cannot be."""


class SessionBusy(LoopError):  # noqa: N818 - it is a state of the session, not a fault
    """Another runner owns the session."""


class BeadTaken(UsageError):  # noqa: N818 - a state of the bead, as above
    """A bead is somebody else's by now."""


class StorageError(LoopError):
    """The disk refused: full, read-only, or not ours."""


def _rebuild(kind: type[LoopError], what: str, where: str, fix: str) -> LoopError:
    return kind(what, where=where, fix=fix)

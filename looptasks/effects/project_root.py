"""A project's root: its files as loops see them, in the main tree or in a worktree."""

import os
from collections.abc import Iterable

from looptasks.effects.git_head import head_commit
from looptasks.effects.project_files import digests


class ProjectRoot:
    """The files below one folder."""

    def __init__(self, root: str) -> None:
        self.root = root

    def digests(self, patterns: Iterable[str]) -> dict[str, str]:
        """Return path and digest of each file that the patterns mean."""
        return digests(self.root, patterns)

    def missing(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Return those of the paths that do not exist."""
        return tuple(
            path for path in paths if not os.path.exists(os.path.join(self.root, path))
        )

    def head(self) -> str | None:
        """Return the commit that is checked out."""
        return head_commit(self.root)

"""Writers: which entry of a session makes a file that an ordinary task rests on."""

import os
from collections.abc import Collection, Iterator

from looptasks.core.pipeline import Pipeline
from looptasks.core.request import Request
from looptasks.core.session import find
from looptasks.core.suggestion import listed
from looptasks.effects.session_folder import HOME, session_names
from looptasks.effects.yaml_declarations import available, load
from looptasks.errors import DeclarationError, UsageError
from looptasks.plugin.engagement import engagement


class Writers:
    """The files that entries make, looked up when the first one is asked for.

    Only a named session has any: a task that is run for itself starts no agent. Of
    several entries that make a file, the one that is run anyway (`named`) counts.
    """

    def __init__(self, root: str, request: Request, named: Collection[str]) -> None:
        self._root = root
        self._named = named
        self._request = request
        self._pipelines: list[Pipeline] | None = None
        self._home = ""

    def entry(self, path: str) -> str | None:
        """Return the entry that makes a file, None when no entry does."""
        if self._request.session is None:
            return None
        if self._pipelines is None:
            self._pipelines = list(self._load())
        found = [p.entry for p in self._pipelines if self._makes(p, path)]
        found = [entry for entry in found if entry in self._named] or found
        if len(found) > 1 and not os.path.exists(os.path.join(self._root, path)):
            raise UsageError(
                f"`{path}` is made by each of {listed(found)}",
                fix=f"name the one that is meant, such as `{found[0]}`",
            )
        return found[0] if len(found) == 1 else None

    def _load(self) -> Iterator[Pipeline]:
        known = session_names(self._root)
        session = find(self._request.session or "", known)
        self._home = f"{HOME}/{session}"
        entries = [f.entry for f in available(self._root) if not f.shipped]
        if session in known:
            record = engagement(self._root, self._request, session).place.record()
            entries = [event["entry"] for event in record.entries] or entries
        for entry in entries:
            try:
                yield load(self._root, entry)
            except DeclarationError:
                continue  # it is told when somebody runs it

    def _makes(self, pipeline: Pipeline, path: str) -> bool:
        return any(
            path in stage.loop.writes or path.startswith(f"{self._home}/{stage.name}/")
            for stage in pipeline.stages
        )

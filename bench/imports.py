"""Imports: which modules a no-op loads, and what they cost."""

import json
from collections.abc import Iterator
from pathlib import Path

from bench.bench import Bench
from bench.commands import python
from bench.table import Row

# Each costs more than our whole no-op may: they wait for the first real task.
HEAVY = (
    "asyncio",
    "email.mime",
    "filelock",
    "jsonschema",
    "logging",
    "rich",
    "sh",
    "socket",
    "sqlite3",
    "xml",
    "yaml",
)
_PROGRAM = """\
import sys
from doit.doit_cmd import DoitMain
code = DoitMain().run(sys.argv[2:])
import json
with open(sys.argv[1], "w") as file:
    json.dump(sorted(sys.modules), file)
sys.exit(code)
"""


def rows(bench: Bench) -> Iterator[Row]:
    """Yield how many modules a no-op loads, those of ours and the heavy ones."""
    ours = loaded(bench, bench.finished(10), bench.with_us, "loop:x", "session=s")
    raw = loaded(bench, bench.raw(10), bench.without)
    added = ours - raw
    heavy = sorted(h for h in HEAVY if h in added)
    note = f"heavy ones that a no-op loads: {', '.join(heavy) or 'none'}"
    yield bench.counted("heavy modules", (len(heavy), 1), "heavy-imports", note)
    theirs = sorted(m for m in added if not m.startswith("looptasks"))
    shown = ", ".join(m for m in theirs if "." not in m)
    note = f"{len(added) - len(theirs)} of looptasks, and {shown}"
    counts = len(ours), len(raw)
    yield bench.counted("modules of a no-op / raw doit", counts, None, note)


def loaded(bench: Bench, cwd: Path, env: dict[str, str], *words: str) -> set[str]:
    """Return the modules that a doit process has loaded when it ends."""
    listing = bench.fresh("modules.json")
    python(cwd, env, "-c", _PROGRAM, str(listing), *words)
    return set(json.loads(listing.read_text()))

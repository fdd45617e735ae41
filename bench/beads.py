"""Beads: how near a board of beads comes to what its blockers and the slots allow."""

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench.bench import Bench
from bench.commands import doit, insist, insist_that, python
from bench.parallel import LONGEST, UNEVEN, ideal
from bench.samples import Contender
from bench.table import Row

_BEADS, _SIDE_BY_SIDE, _SECONDS = 64, 8, 0.2
_CLOSED = 10_000
_READ = "import sys; open(sys.argv[1], 'rb').read()"
Board = Mapping[str, tuple[float, tuple[str, ...]]]


def rows(bench: Bench) -> Iterator[Row]:
    """Yield boards against their ideal, and a long history of closed beads."""
    even: Board = {f"b-{n:03d}": (_SECONDS, ()) for n in range(_BEADS)}
    waves = _BEADS / _SIDE_BY_SIDE * _SECONDS
    name = f"{_BEADS} beads on {_SIDE_BY_SIDE} / ideal"
    yield _row(bench, name, even, waves, "beads-even")
    uneven = {
        f"b-{name}": (seconds, tuple(f"b-{blocker}" for blocker in blockers))
        for name, (seconds, blockers) in UNEVEN.items()
    }
    name = "uneven board / its longest way"
    yield _row(bench, name, uneven, LONGEST, "beads-uneven")
    barrier = sum(max(UNEVEN[b][0] for b in wave) for wave in _waves(UNEVEN))
    name = "the same with a barrier after each wave"
    yield bench.row(
        name,
        ideal(bench, barrier),
        ideal(bench, LONGEST),
        bench.effort(1, least=3),
        note="computed, for comparison",
    )
    yield from _history(bench)


def _row(bench: Bench, name: str, board: Board, seconds: float, limit: str) -> Row:
    effort = bench.effort(8, least=3, most=12)
    floor = ideal(bench, seconds)
    note = f"{seconds:g} s and raw doit's start-up"
    return bench.row(name, _ours(bench, board), floor, effort, limit=limit, note=note)


def _waves(board: Board) -> Sequence[Sequence[str]]:
    level: dict[str, int] = {}
    for name, (_, blockers) in board.items():
        level[name] = 1 + max((level[b] for b in blockers), default=0)
    return [[n for n in board if level[n] == at] for at in sorted({*level.values()})]


def _ours(bench: Bench, board: Board) -> Contender:
    project, names = _project(bench.memory()), itertools.count()

    def seconds() -> float:
        session = f"s{next(names)}"
        _write_board(project, [_bead(n, session, *what) for n, what in board.items()])
        words = ("-n", str(_SIDE_BY_SIDE), "loop:swarm", f"session={session}")
        ran = doit(project, bench.with_us, *words)
        insist(ran.out.count(":0001 started, "), len(board), "agents that were started")
        insist_that(f"all {len(board)} beads are closed" in ran.out, ran.out)
        return ran.seconds

    return seconds


def _history(bench: Bench) -> Iterator[Row]:
    project = _project(bench.fresh("closed"))
    _write_board(
        project, [_bead(f"b-{n:05d}", "s", 0, (), "closed") for n in range(_CLOSED)]
    )
    doit(project, bench.with_us, "loop:swarm", "session=s")
    for title, words, floor in (
        ("run", ("loop:swarm", "session=s"), ()),
        ("list", ("list", "session=s"), ("list", "--all")),
    ):
        yield bench.row(
            f"{title} with {_CLOSED:,} closed beads / raw doit",
            lambda words=words: doit(project, bench.with_us, *words).cpu,
            lambda floor=floor: doit(bench.raw(_CLOSED), bench.without, *floor).cpu,
            bench.effort(4, most=20),
            limit="beads-history",
            note="CPU",
        )
    path = str(project / ".beads" / "issues.jsonl")
    ready = ("-m", "looptasks.beads", "ready", "--json")
    yield bench.row(
        f"ready --json with {_CLOSED:,} closed beads / reading the file",
        lambda: python(project, bench.with_us, *ready).cpu,
        lambda: python(project, bench.with_us, "-c", _READ, path).cpu,
        bench.effort(4, most=30),
        limit="beads-ready",
        note="CPU",
    )


def _project(folder: Path) -> Path:
    loop = folder / "loops" / "swarm"
    loop.mkdir(parents=True)
    (folder / "doit.cfg").write_text("[GLOBAL]\nloader = loops\n")
    declared = {
        "name": "swarm",
        "each": "beads",
        "max_iterations": 1,
        "isolation": "shared",
        # The prompt is the bead as markdown: its title says how long to rest.
        "agent": {"command": ["sh", "-c", "read sign id seconds; exec sleep $seconds"]},
    }
    (loop / "loop.yaml").write_text(json.dumps(declared))
    (loop / "prompt.md").write_text("${BEAD}")
    return folder


def _bead(
    name: str,
    session: str,
    seconds: float,
    blockers: Sequence[str],
    status: str = "open",
) -> dict[str, object]:
    then = "2026-01-01T00:00:00Z"
    needs = [
        {"issue_id": name, "depends_on_id": b, "type": "blocks", "created_at": then}
        for b in blockers
    ]
    return {
        "id": name,
        "title": str(seconds),
        "status": status,
        "priority": 2,
        "created_at": then,
        "updated_at": then,
        **({"closed_at": then} if status == "closed" else {}),
        "labels": [f"loop/{session}"],
        **({"dependencies": needs} if needs else {}),
    }


def _write_board(project: Path, beads: Sequence[Mapping[str, object]]) -> None:
    folder = project / ".beads"
    folder.mkdir(exist_ok=True)
    # As `bd` writes them: no blanks, nothing that is empty.
    text = (json.dumps(bead, separators=(",", ":")) for bead in beads)
    lines = "".join(f"{line}\n" for line in text)
    (folder / "issues.jsonl").write_text(lines)

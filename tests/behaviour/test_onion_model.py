"""Random onions and random edits: what runs is what the contents say, and was foretold.

A model in Python computes from contents alone which instances must run; doit, its
predictions and the model have to agree after any series of edits.
`LOOPTASKS_ONIONS=N` tries more of them, or fewer.
"""

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

from tests.support.doit_nursery import Nursery
from tests.support.onion_agent import onion_environment
from tests.support.onion_model import LISTS, Model, Shape, canonical
from tests.support.quick_onion import QuickOnion

WORDS = st.sampled_from(["red", "green", "blue"])
PHASES = st.dictionaries(st.sampled_from(["x", "y", "z"]), WORDS, min_size=1)
WISHES = st.dictionaries(
    st.sampled_from(["a", "b", "c"]), PHASES, min_size=1, max_size=3
)
Wish = dict[str, dict[str, str]]
Entries = list[dict[str, Any]]


class Edit(NamedTuple):
    """Something that a person does between two runs, to the n-th of its kind."""

    what: str
    how: str = ""
    which: int = 0
    entry: int = 0
    word: str = "red"


SHAPES = st.builds(
    Shape,
    style_for=st.sampled_from(["", "spec", "code"]),
    code_reads_spec=st.booleans(),
    docs=st.booleans(),
    total=st.booleans(),
    in_order=st.booleans(),
    whole=st.booleans(),
)
EDITS = st.builds(
    Edit,
    what=st.sampled_from(
        [
            "wish",
            "wish",
            "plan",
            "plan",
            "spec",
            "spec",
            "phase",
            "style",
            "forget",
            "fail",
            "touch",
            "lose-db",
        ]
    ),
    how=st.sampled_from(
        ["change", "change", "add", "remove", "reverse", "depend", "rewrite", "title"]
    ),
    which=st.integers(0, 8),
    entry=st.integers(0, 2),
    word=WORDS,
)
ROUNDS = st.lists(
    st.tuples(
        st.lists(EDITS, min_size=1, max_size=3),
        st.sampled_from(["", "", "", "spec", "phase"]),
        st.sampled_from([(), (), ("-n2",)]),
    ),
    min_size=1,
    max_size=4,
)


class Bench(QuickOnion):
    """A project and its model."""

    def __init__(self, root: Path, nursery: Nursery, model: Model) -> None:
        super().__init__(root, nursery, model.shape)
        self.model = model
        self.write_wish(model.wish)

    def write_wish(self, text: str) -> None:
        """Say what is wanted."""
        self.write("wish.json", text)
        self.model.wish = text

    def outlook(self) -> dict[str, dict[str, Any]]:
        """Return what is foretold of each instance; listing says the same."""
        ran = self.ok("explain", "--json")
        assert self.ok("list", "--json").json["entries"] == ran.json["entries"]
        (entry,) = ran.json["entries"]
        return {stage["stage"]: stage for stage in entry["stages"]}

    def hand_on(self, name: str, kind: str, value: Any, *, spaces: int) -> None:
        """Change an artifact by hand."""
        text = canonical(value) if spaces == 2 else json.dumps(value, indent=spaces)
        self.write(f".loop/s/{name}/output/{kind}.json", text)
        self.model.done[name].output = text


def perform(bench: Bench, edit: Edit) -> None:
    """Do what an edit says, if it can be done."""
    model = bench.model
    if edit.what == "wish":
        wish = json.loads(model.wish)
        bench.write_wish(json.dumps(wished(wish, edit), indent=edit.which % 3))
    elif edit.what == "style":
        bench.write("style.txt", edit.word)
        model.style = edit.word
    elif edit.what == "touch":
        for path in sorted(bench.path(".loop").rglob("*.json")):
            os.utime(path, (1, 1))
        os.utime(bench.path("wish.json"), (1, 1))
    elif edit.what == "lose-db":
        bench.session("s", "doit.db").unlink(missing_ok=True)
    elif edit.what in ("plan", "spec", "phase"):
        by_hand(bench, edit)
    else:
        single(bench, edit)


def wished(wish: Wish, edit: Edit) -> Wish:
    """Return another wish, or the same one in other words."""
    spec = list(wish)[edit.which % len(wish)]
    phases = wish[spec]
    phase = list(phases)[edit.entry % len(phases)]
    changed: dict[str, Callable[[], Wish]] = {
        "change": lambda: {**wish, spec: {**phases, phase: edit.word}},
        "add": lambda: {**wish, "new": {"n": edit.word}},
        "remove": lambda: {
            n: p for n, p in wish.items() if n != spec or len(wish) == 1
        },
        "reverse": lambda: dict(reversed(wish.items())),
        "depend": lambda: {**wish, spec: {**phases, "late": edit.word}},
        "title": lambda: {**wish, spec: dict(reversed(phases.items()))},
    }
    return changed.get(edit.how, lambda: wish)()


def by_hand(bench: Bench, edit: Edit) -> None:
    """Change an artifact that lies there."""
    names = sorted(n for n in bench.model.done if n.split("/")[0] == edit.what)
    if not names:
        return
    name = names[edit.which % len(names)]
    value = bench.model.done[name].value
    if edit.what == "phase":
        key = "title" if edit.how == "title" else "objective"
        value = value if edit.how == "rewrite" else {**value, key: edit.word}
    elif edit.how == "title":
        value = {**value, "title": edit.word}
    else:
        field = LISTS[edit.what]
        value = {**value, field: rearranged(value[field], edit)}
    bench.hand_on(name, edit.what, value, spaces=1 + edit.entry)


def rearranged(entries: Entries, edit: Edit) -> Entries:
    """Return other entries, or the same ones in another order."""
    index = edit.entry % len(entries)
    one = entries[index]
    words = one["description"]
    if words.startswith("{"):
        words = json.dumps({**json.loads(words), "x": edit.word})
    fresh = {**one, "name": "added", "title": edit.word}
    first = entries[0]["name"]
    changed = {
        "change": {**one, "description": words if "{" in words else edit.word},
        "depend": {**one, "dependencies": [first] if index else []},
        "title": {**one, "title": edit.word},
    }
    if edit.how == "reverse":
        return entries[::-1]
    if edit.how == "add" and all(e["name"] != "added" for e in entries):
        return [*entries, fresh]
    if edit.how == "remove" and len(entries) > 1:
        kept = [e for e in entries if e is not one]
        return [
            {**e, "dependencies": []} if one["name"] in e.get("dependencies", ()) else e
            for e in kept
        ]
    changed_entry = changed.get(edit.how, one)
    result = [changed_entry if e is one else e for e in entries]
    return entries if _is_ring(result) else result


def _is_ring(entries: Entries) -> bool:
    needs = {e["name"]: set(e.get("dependencies", ())) for e in entries}
    while free := [name for name, before in needs.items() if not before & needs.keys()]:
        for name in free:
            del needs[name]
    return bool(needs)


def single(bench: Bench, edit: Edit) -> None:
    """Forget one instance, or let it fail until it is chosen again."""
    model = bench.model
    names = sorted(n for n in model.done if n in model.names() and "/" in n)
    if not names:
        return
    name = names[edit.which % len(names)]
    if edit.what == "forget":
        bench.ok("forget", f"stage:{name.replace('/', ':')}")
        model.done[name].forgotten = True
        return
    bench.write(f"fail.{name.replace('/', '.')}", "")
    model.failing.add(name)


def compare(foretold: dict[str, dict[str, Any]], runs: list[str]) -> None:
    """Assert that a prophecy has come true, of every instance."""
    for name, told in foretold.items():
        sure = "; after " not in told["reason"]
        if told["fate"] in ("rest", "archive", "blocked"):
            assert name not in runs, f"{name} ran: {told}"
        elif told["fate"] == "run" and sure and told["next"]:
            assert name in runs, f"{name} did not run: {told}"
    for name in runs:
        moving = foretold.get(name, {"fate": "maybe"})["fate"]
        assert moving in ("run", "maybe"), name


def check_round(bench: Bench, until: str, mode: tuple[str, ...]) -> None:
    """Run, and compare what happens with the model and with what was foretold."""
    model = bench.model
    told = bench.outlook()
    until = until if until in model.shape.kinds else ""
    ran = bench.doit(*mode, f"stage:{until}" if until else "pipeline:p")
    runs = bench.new_runs()
    wanted = model.run(until=until)
    assert runs == wanted, (ran.out, ran.err)
    assert ran.code == (1 if set(runs) & model.failing else 0), ran
    if not until and not model.failing:
        compare(told, runs)
        after = bench.outlook()
        assert {o["fate"] for o in after.values()} == {"rest"}, after
        status = bench.doit("status", "--json").json
        assert status["status"] == "complete", status
    for name in sorted(model.failing):
        bench.path(f"fail.{name.replace('/', '.')}").unlink()
    model.failing.clear()


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    """Return a warm doit that knows the agent."""
    with Nursery(onion_environment(tmp_path_factory.mktemp("known"))) as made:
        yield made


# Without shrinking: that takes minutes, and the examples are small anyway.
@settings(
    max_examples=int(os.environ.get("LOOPTASKS_ONIONS", "15")),
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow],
)
@given(shape=SHAPES, wish=WISHES, series=ROUNDS)
def test_what_runs_is_what_the_contents_say_and_was_foretold(
    nursery: Nursery,
    shape: Shape,
    wish: Wish,
    series: list[tuple[list[Edit], str, tuple[str, ...]]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder) / "project", nursery, Model(shape, json.dumps(wish)))
        assert bench.again() == bench.model.run()
        for batch, until, mode in series:
            for edit in batch:
                note(str(edit))
                perform(bench, edit)
            check_round(bench, until, mode)

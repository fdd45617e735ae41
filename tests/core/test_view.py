"""The view: what is shown of a session, in as little room as there is."""

from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.spending import Spending
from looptasks.core.view import (
    ASCII,
    AtWork,
    Piece,
    Row,
    Signs,
    Size,
    StageView,
    View,
    clock,
    fit,
    height,
    row_width,
    rows,
)

PLAN = StageView("plan", "complete", 5, 25, "two agents agreed")
WORK = StageView("work", "busy", 3, 25, at_work=AtWork(4, 62, 1, "Reading app.py"))
REVIEW = StageView("review", "waiting", 0)
SPENT = Spending().add(0.42, None, 1).add(None, None, 1)
VIEW = View("auth", "pipeline:build", 134, SPENT, (PLAN, WORK, REVIEW))

ANY_STAGE = st.builds(
    StageView,
    name=st.text(max_size=30),
    status=st.sampled_from(["waiting", "busy", "complete", "failed"]),
    done=st.integers(0, 10_000),
    limit=st.integers(0, 10_000),
    reason=st.text(max_size=60),
    at_work=st.none()
    | st.builds(
        AtWork,
        number=st.integers(1, 10_000),
        seconds=st.floats(0, 1e6),
        attempt=st.integers(0, 9),
        doing=st.text(max_size=200),
    ),
)
ANY_VIEW = st.builds(
    View,
    session=st.text(max_size=64),
    entry=st.text(max_size=30),
    seconds=st.floats(0, 1e6),
    spending=st.sampled_from([Spending(), SPENT]),
    stages=st.lists(ANY_STAGE, max_size=30).map(tuple),
)
ANY_SIZE = st.builds(Size, st.integers(1, 200), st.integers(1, 60))


def text(row: Row) -> str:
    return "".join(piece.text for piece in row)


def drawn(
    view: View, columns: int, lines: int, signs: Signs | None = None
) -> list[str]:
    return [text(row) for row in rows(view, Size(columns, lines), signs or Signs())]


def test_a_roomy_terminal_shows_everything() -> None:
    assert drawn(VIEW, 80, 24) == [
        "",
        " auth · pipeline:build · 2:14 · $0.42 + 1 unknown",
        " ✓ plan    5 done · two agents agreed",
        " ● work    3 of 25 done · iteration 4 · 1:02",
        "   Reading app.py",
        " ○ review  waiting",
    ]


def test_twenty_columns_show_what_matters_most() -> None:
    assert drawn(VIEW, 20, 10) == [
        " auth · 2:14",
        " ✓ plan  5 done",
        " ● work 3/25 · 1:02",
        "   Reading app.py",
        " ○ review  waiting",
    ]


def test_ascii_terminals_get_ascii_only() -> None:
    assert all(line.isascii() for line in drawn(VIEW, 15, 24, ASCII))


def test_unknown_cost_is_never_shown_as_nothing() -> None:
    unknown = VIEW._replace(spending=Spending().add(None, None, 1))

    assert "cost unknown" in drawn(unknown, 80, 24)[1]
    assert "$" not in drawn(unknown, 80, 24)[1]


def test_a_second_attempt_is_said() -> None:
    again = WORK._replace(at_work=AtWork(4, 62, 2, ""))

    shown = drawn(VIEW._replace(stages=(again,)), 80, 24)

    assert shown[2:] == [" ● work  3 of 25 done · iteration 4 · 1:02 · attempt 2"]


def test_a_loop_without_limit_shows_only_what_is_done() -> None:
    endless = WORK._replace(limit=0)

    assert "  3 done" in drawn(VIEW._replace(stages=(endless,)), 80, 24)[2]


def test_few_lines_count_what_is_complete_and_what_waits() -> None:
    stages = (
        *(PLAN._replace(name=f"plan{n}") for n in range(8)),
        WORK,
        *(REVIEW._replace(name=f"review{n}") for n in range(8)),
    )
    shown = drawn(VIEW._replace(stages=stages), 40, 8)

    assert shown[1:] == [
        " ● work  3 of 25 done · 1:02",
        "   Reading app.py",
        " ✓ 8 complete: plan0, plan1, plan2, pl…",
        " ○ 8 waiting: review0, review1, review…",
    ]


def test_more_agents_than_lines_are_counted() -> None:
    many = VIEW._replace(stages=tuple(WORK._replace(name=f"w{n}") for n in range(64)))

    shown = drawn(many, 80, 10)

    assert len(shown) == 8
    assert shown[-1] == "  and 58 more"


@given(ANY_VIEW, ANY_SIZE, st.sampled_from([Signs(), ASCII]))
def test_no_view_is_larger_than_its_terminal(
    view: View, size: Size, signs: Signs
) -> None:
    made = rows(view, size, signs)

    assert len(made) <= max(size.lines - 2, 1)
    assert all(row_width(row) < max(size.columns, 2) for row in made)
    assert not any("\n" in text(row) or "\x1b" in text(row) for row in made)


@given(st.integers(1, 100), st.integers(4, 60))
def test_whatever_runs_is_seen_or_counted(agents: int, lines: int) -> None:
    stages = tuple(WORK._replace(name=f"w{n}") for n in range(agents))

    shown = drawn(VIEW._replace(stages=stages), 80, lines)

    counted = [int(line.split()[1]) for line in shown if line.startswith("  and ")]
    assert sum("●" in line for line in shown) + sum(counted) == agents


@given(
    st.lists(
        st.builds(
            Piece,
            text=st.text(max_size=20),
            rank=st.integers(0, 4),
            elastic=st.booleans(),
            brief=st.text("abc", max_size=4),
        )
    ),
    st.integers(1, 60),
)
def test_pieces_keep_their_order_and_fit(pieces: list[Piece], columns: int) -> None:
    kept = fit(pieces, columns, "…")

    assert row_width(kept) <= columns
    ranks = [piece.rank for piece in pieces]
    found = iter(ranks)
    assert all(piece.rank in found for piece in kept)


@given(st.lists(st.integers(0, 300), max_size=20), st.integers(1, 300))
def test_a_narrower_terminal_never_needs_fewer_lines(
    widths: list[int], columns: int
) -> None:
    assert height(widths, columns) >= height(widths, columns + 1) >= len(widths)


def test_time_is_shown_as_on_a_clock() -> None:
    assert [clock(t) for t in (0, 59.9, 60, 3599, 3600)] == [
        *("0:00", "0:59", "1:00", "59:59"),
        "1:00:00",
    ]

"""The benchmark: its table, its limits, and that it can fail."""

import subprocess
import sys
import tomllib
from pathlib import Path

from bench.samples import Effort, Ratio, compare, median_range
from bench.table import THRESHOLDS, Row, markdown

REPOSITORY = Path(__file__).resolve().parents[1]


def test_a_quick_measure_prints_its_table_and_writes_it(tmp_path: Path) -> None:
    out = tmp_path / "table.md"
    words = ("--quick", "--only", "imports", "--folder", str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-m", "bench", *words, "--out", str(out)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| heavy modules " in done.stdout
    assert out.read_text() in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["table.md"]


def test_every_limit_has_its_reason() -> None:
    declared = tomllib.loads(THRESHOLDS.read_text())
    assert all(entry["reason"] and entry["limit"] >= 0 for entry in declared.values())


def test_only_what_is_over_its_limit_beyond_doubt_is_broken() -> None:
    def verdict(value: float, low: float, limit: float | None) -> str:
        return Row("x", Ratio(value, low, 2 * value, 5, 1.0, 1.0), limit).verdict

    assert verdict(1.2, 1.1, 1.0) == "BROKEN"
    assert verdict(1.2, 0.9, 1.0) == "near"
    assert verdict(0.9, 0.8, 1.0) == "ok"
    assert verdict(9.0, 8.0, None) == "info"


def test_contenders_take_turns_at_being_first() -> None:
    order = []
    effort = Effort(least=4, most=4, seconds=60)

    def contender(name: str, seconds: float) -> float:
        order.append(name)
        return seconds

    ratio = compare(
        lambda: contender("ours", 3.0), lambda: contender("floor", 2.0), None, effort
    )
    assert ratio.value == 1.5
    assert order == ["ours", "floor", "floor", "ours"] * (ratio.rounds // 2)


def test_the_range_of_a_median_narrows_with_the_number_of_rounds() -> None:
    few, many = ([float(n) for n in range(count)] for count in (5, 101))
    assert median_range(few) == (0.0, 4.0)
    assert median_range(many) == (40.0, 60.0)


def test_a_table_has_one_line_for_each_row_below_its_head() -> None:
    row = Row("a / b", Ratio(1.0, 0.9, 1.1, 7, 2.0, 2.0), 1.5, note="why")
    head, rule, *rows = markdown([row, row]).splitlines()
    assert head.count("|") == rule.count("|") == rows[0].count("|")
    assert len(rows) == 2
    assert "ok (why)" in rows[0]

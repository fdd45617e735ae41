"""How doit tells that a file's content is not what it was."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from looptasks.plugin.checker import ContentChecker

LONG_AGO = 1_000_000_000 * 10**9
MUCH_LATER = LONG_AGO + 60 * 10**9


def remembered(checker: ContentChecker, path: Path) -> Any:
    """Return the file's state after its way through doit's database."""
    return json.loads(json.dumps(checker.get_state(str(path), None)))


def modified(checker: ContentChecker, path: Path, state: Any) -> bool:
    return checker.check_modified(str(path), path.stat(), state)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "plan.md"
    path.write_text("one")
    os.utime(path, ns=(LONG_AGO, LONG_AGO))
    return path


@pytest.mark.parametrize("now", [LONG_AGO, MUCH_LATER])
def test_an_untouched_file_is_unchanged(file: Path, now: int) -> None:
    checker = ContentChecker(lambda: now)

    assert not modified(checker, file, remembered(checker, file))


def test_a_touched_file_is_unchanged(file: Path) -> None:
    checker = ContentChecker(lambda: MUCH_LATER)
    state = remembered(checker, file)

    os.utime(file)

    assert not modified(checker, file, state)


def test_a_file_replaced_by_its_own_content_is_unchanged(file: Path) -> None:
    checker = ContentChecker(lambda: MUCH_LATER)
    state = remembered(checker, file)

    other = file.with_name("other")
    other.write_text("one")
    other.replace(file)

    assert not modified(checker, file, state)


@pytest.mark.parametrize("text", ["two", "three"])
def test_other_content_is_a_change(file: Path, text: str) -> None:
    checker = ContentChecker(lambda: MUCH_LATER)
    state = remembered(checker, file)

    file.write_text(text)

    assert modified(checker, file, state)


def test_a_replacement_within_one_tick_of_the_clock_is_seen(file: Path) -> None:
    checker = ContentChecker(lambda: MUCH_LATER)
    state = remembered(checker, file)

    other = file.with_name("other")
    other.write_text("two")
    os.utime(other, ns=(LONG_AGO, LONG_AGO))
    other.replace(file)

    assert modified(checker, file, state)


def test_a_rewrite_in_place_within_one_tick_of_the_clock_is_seen(file: Path) -> None:
    checker = ContentChecker(lambda: LONG_AGO + 10**9)
    state = remembered(checker, file)

    file.write_text("two")
    os.utime(file, ns=(LONG_AGO, LONG_AGO))

    assert modified(checker, file, state)


def test_a_file_from_the_future_is_not_trusted_by_its_time(file: Path) -> None:
    checker = ContentChecker(lambda: LONG_AGO - 60 * 10**9)
    state = remembered(checker, file)

    file.write_text("two")
    os.utime(file, ns=(LONG_AGO, LONG_AGO))

    assert modified(checker, file, state)


def test_a_settled_file_is_not_hashed_again(file: Path) -> None:
    checker = ContentChecker(lambda: MUCH_LATER)
    state = remembered(checker, file)
    status = file.stat()

    file.unlink()

    assert not checker.check_modified(str(file), status, state)


def test_a_settled_state_is_kept_as_it_is(file: Path) -> None:
    checker = ContentChecker(lambda: MUCH_LATER)

    assert checker.get_state(str(file), remembered(checker, file)) is None


def test_a_young_state_is_taken_again_when_the_file_has_settled(file: Path) -> None:
    young = remembered(ContentChecker(lambda: LONG_AGO), file)

    settled = ContentChecker(lambda: MUCH_LATER).get_state(str(file), young)

    assert settled is not None
    assert (young[-1], settled.racy) == (True, False)


@pytest.mark.parametrize("state", [[], [1, 2, 3], [1.5, 3, "md5"]])
def test_a_state_of_another_shape_is_a_change(file: Path, state: list[Any]) -> None:
    assert modified(ContentChecker(), file, state)


def test_a_large_file_is_hashed_to_its_end(tmp_path: Path) -> None:
    checker = ContentChecker()
    file = tmp_path / "large"
    file.write_bytes(b"a" * 3_000_000 + b"b")
    state = remembered(checker, file)

    file.write_bytes(b"a" * 3_000_000 + b"c")

    assert modified(checker, file, state)

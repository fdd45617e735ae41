"""A watch over an iteration's folder, while the folder fills."""

import json
from pathlib import Path

from looptasks.core.agent_settings import AgentSettings
from looptasks.core.glimpse import Glimpse
from looptasks.core.price import Price
from looptasks.effects.iteration_watch import IterationWatch, newest_attempt
from looptasks.effects.stream_note import write_note


def attempt(folder: Path, number: int, printed: str = "", verdict: str = "") -> Path:
    made = folder / "attempts" / str(number)
    made.mkdir(parents=True, exist_ok=True)
    (made / "stdout").write_text(printed)
    if verdict:
        (made / "result.json").write_text(json.dumps({"verdict": verdict}))
    return made


def test_an_iteration_without_attempts_shows_nothing(tmp_path: Path) -> None:
    assert IterationWatch(str(tmp_path / "nowhere")).look() == Glimpse()


def test_the_newest_attempt_is_looked_at(tmp_path: Path) -> None:
    for number in (1, 2, 10):
        attempt(tmp_path, number, f"attempt {number}")

    assert newest_attempt(str(tmp_path)) == 10
    assert IterationWatch(str(tmp_path)).look() == Glimpse(10, tail="attempt 10")


def test_what_is_printed_meanwhile_is_seen(tmp_path: Path) -> None:
    watch = IterationWatch(str(tmp_path))
    made = attempt(tmp_path, 1, "one\n")
    assert watch.look().tail == "one\n"

    with (made / "stdout").open("a") as file:
        file.write("two\n")

    assert watch.look().tail == "one\ntwo\n"


def test_only_the_end_of_a_long_output_is_read(tmp_path: Path) -> None:
    attempt(tmp_path, 1, "x" * 1_000_000 + " end")

    seen = IterationWatch(str(tmp_path)).look()

    assert len(seen.tail) == 4096
    assert seen.tail.endswith(" end")
    assert not seen.whole


def test_a_cut_character_does_no_harm(tmp_path: Path) -> None:
    made = attempt(tmp_path, 1)
    (made / "stdout").write_bytes("é".encode() * 4096 + b"x\xff")

    assert IterationWatch(str(tmp_path)).look().tail.endswith("éx\ufffd")


def test_after_a_good_attempt_the_check_is_looked_at(tmp_path: Path) -> None:
    attempt(tmp_path, 1, "answer", verdict="ok")
    (tmp_path / "validation.log").write_text("3 passed")

    assert IterationWatch(str(tmp_path)).look() == Glimpse(1, "ok", "3 passed")


def test_a_half_written_result_is_no_verdict(tmp_path: Path) -> None:
    made = attempt(tmp_path, 1, "working")
    for text in ('{"verd', "[]", '{"verdict": 3}', "{}"):
        (made / "result.json").write_text(text)
        assert IterationWatch(str(tmp_path)).look().verdict == ""


def test_tokens_are_priced_while_the_agent_works(tmp_path: Path) -> None:
    made = attempt(tmp_path, 1)
    prices = {"gpt-5": Price(10, 100, 1)}
    write_note(str(made), "codex", "gpt-5", AgentSettings(prices=prices))
    watch = IterationWatch(str(tmp_path))
    assert watch.look().guess is None

    usage = {"input_tokens": 200, "output_tokens": 40}
    event = {"type": "turn.completed", "usage": usage}
    (made / "stdout").write_text(f"{json.dumps(event)}\n")

    assert watch.look().guess == 0.006


def test_what_cannot_be_priced_has_no_guess(tmp_path: Path) -> None:
    made = attempt(tmp_path, 1, '{"type": "turn.started"}\n')
    for note in ({"agent": "codex", "prices": [1]}, {"agent": "codex"}):
        (made / "stream.json").write_text(json.dumps(note))
        assert IterationWatch(str(tmp_path)).look().guess is None

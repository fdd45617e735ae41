import os
from pathlib import Path

import pytest

from tests.support.declared_project import planned, refused, write


@pytest.fixture
def root(tmp_path: Path) -> str:
    return planned(tmp_path)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"name: plan\xff", "not UTF-8 (byte 11)"),
        (b"name: plan\0", "NUL byte (line 1)"),
        (b"#" * (1 << 20) + b"\nname: plan", "larger than 1 MiB"),
        ("\ufeffname: plan\nmodel: 5".encode(), "`model` is `5`"),
    ],
)
def test_files_that_are_no_text_are_refused(root: str, data: bytes, words: str) -> None:
    write(root, "loops/plan/loop.yaml", data)
    assert words in refused(root, "loop:plan")


def test_a_pipe_in_the_place_of_a_file_does_not_hang(root: str) -> None:
    path = Path(root, "loops/plan/loop.yaml")
    path.unlink()
    os.mkfifo(path)
    assert "it is not a file" in refused(root, "loop:plan")
    path.unlink()
    path.mkdir()
    assert "loops/plan/loop.yaml" in refused(root, "loop:plan")

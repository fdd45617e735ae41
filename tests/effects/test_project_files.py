"""Project files: what patterns mean, and nothing from outside of the project."""

import hashlib
import os
from pathlib import Path

import pytest

from looptasks.core.digest import MISSING
from looptasks.effects.project_files import digest_of, digests, inside, matches
from looptasks.errors import DeclarationError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    for name in ("docs/plan.md", "docs/deep/more.md", "docs/notes.txt", "top.md"):
        path = made / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    for name in (".git/config", ".loop/s/ledger.md"):
        (made / name).parent.mkdir(parents=True)
        (made / name).write_text("not theirs to read")
    return made


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("top.md", ["top.md"]),
        ("docs", ["docs/deep/more.md", "docs/notes.txt", "docs/plan.md"]),
        ("docs/*.md", ["docs/plan.md"]),
        ("**/*.md", ["docs/deep/more.md", "docs/plan.md", "top.md"]),
        ("docs/[pn]*", ["docs/notes.txt", "docs/plan.md"]),
        ("missing.md", ["missing.md"]),
        ("missing/*.md", []),
        ("*", ["top.md"]),
        (".", ["docs/deep/more.md", "docs/notes.txt", "docs/plan.md", "top.md"]),
    ],
)
def test_a_pattern_means_these_files(
    root: Path, pattern: str, found: list[str]
) -> None:
    assert matches(str(root), pattern) == found


def test_a_digest_is_that_of_the_content(root: Path) -> None:
    found = digests(str(root), ["top.md", "missing.md"])
    assert found == {"top.md": sha("top.md"), "missing.md": MISSING}


def test_a_large_file_is_hashed_whole(root: Path) -> None:
    (root / "large").write_bytes(b"x" * 3_000_001)
    assert digest_of(str(root / "large")) == sha("x" * 3_000_001)


@pytest.mark.parametrize(
    "path", ["../x", "/etc/passwd", "a/../../x", "..", "docs/../.."]
)
def test_a_way_out_is_refused(root: Path, path: str) -> None:
    with pytest.raises(DeclarationError, match="leads out of the project"):
        inside(str(root), path)
    with pytest.raises(DeclarationError):
        digests(str(root), [path])


def test_a_path_through_a_link_to_elsewhere_is_refused(
    root: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret").mkdir()
    (root / "out").symlink_to(tmp_path / "secret")
    with pytest.raises(DeclarationError, match="leads out of the project"):
        digests(str(root), ["out/file.md"])


@pytest.mark.parametrize("pattern", ["out", "out.md", "*", "**/*.md", "*/file.md", "."])
def test_nothing_outside_is_read_through_a_link(
    root: Path, tmp_path: Path, pattern: str
) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "file.md").write_text("secret")
    (root / "out").symlink_to(secret)
    (root / "out.md").symlink_to(secret / "file.md")
    before = digests(str(root), [pattern])
    assert sha("secret") not in before.values()
    (secret / "file.md").write_text("another secret")
    assert digests(str(root), [pattern]) == before


def test_a_link_that_points_elsewhere_now_is_a_change(
    root: Path, tmp_path: Path
) -> None:
    link = root / "link.md"
    link.symlink_to(tmp_path / "one")
    before = digests(str(root), ["link.md"])
    link.unlink()
    link.symlink_to(tmp_path / "two")
    assert digests(str(root), ["link.md"]) != before


def test_a_link_inside_the_project_is_followed(root: Path) -> None:
    (root / "link.md").symlink_to("docs/plan.md")
    assert digests(str(root), ["link.md"]) == {"link.md": sha("docs/plan.md")}


def test_a_project_behind_a_link_is_a_project(root: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(root)
    assert digests(str(tmp_path / "alias"), ["top.md"]) == {"top.md": sha("top.md")}


def test_a_link_in_a_circle_ends(root: Path) -> None:
    (root / "docs/again").symlink_to(root)
    (root / "self").symlink_to("self")
    assert "docs/plan.md" in matches(str(root), "docs")
    assert digests(str(root), ["self"]) == {"self": MISSING}


def test_a_pipe_is_not_waited_for(root: Path) -> None:
    os.mkfifo(root / "docs/pipe")
    assert digests(str(root), ["docs"])["docs/pipe"] == MISSING
    assert digests(str(root), ["docs/pipe"]) == {"docs/pipe": MISSING}

import pytest

from looptasks.effects.yaml_text import MAX_NODES, parse
from looptasks.errors import DeclarationError

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BOMB, f"more than {MAX_NODES} values"),
        ("a: &a [*a]", "the alias `*a` has no anchor before it"),
        ("a: *b", "alias"),
        ("[" * 100_000, "nested too deeply"),
        ("? [a]\n: b", "a key is a list"),
        ("true: 1", "the key `true` is no text"),
        ("a: !!set {x}", "the tag"),
        ("a: 1\nb: 2\na: 3", "stands twice, first in line 1"),
        ("a:\n\tb: 1", "no tabs"),
        ('a: "x\\0y"', "NUL"),
        ("<<: 5", "`<<` takes a mapping"),
        ("a: 1\n--- \nb: 1", "second document"),
        ("%YAML 9.9\n---\na: 1", "not YAML"),
        ("a: \x07", "not YAML"),
    ],
)
def test_yaml_that_could_do_harm_is_refused(text: str, words: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        parse(text, "x.yaml")
    assert words in str(caught.value)
    assert str(caught.value).startswith("x.yaml:")


def test_yaml_means_what_people_read() -> None:
    text = (
        "{a: no, b: 1:30, c: 007, d: 2024-01-01, e: 1_000, f: 0x10, g: .inf, h: 9e999}"
    )
    found = parse(text, "x.yaml")
    assert all(isinstance(value, str) for value in found.values())
    plain = parse("{a: 25, b: -1.5, c: true, d: null, e: ~, f: , g: 1e3, h: '5'}", "x")
    assert list(plain.values()) == [25, -1.5, True, None, None, None, 1000.0, "5"]


def test_anchors_and_merges_work() -> None:
    text = "base: &b {x: 1, y: 2}\nmore: &m {y: 3, z: 4}\nall: {<<: [*b, *m], x: 0}\n"
    assert parse(text, "x")["all"] == {"x": 0, "y": 2, "z": 4}

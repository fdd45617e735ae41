"""Secrets: hidden wherever they stand, and nothing else is touched."""

import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptasks.core.secret import HIDDEN, masked, named_secrets

LETTERS = string.ascii_letters + string.digits
WORDS = st.text(string.ascii_lowercase, min_size=1, max_size=8)


def token(least: int) -> st.SearchStrategy[str]:
    """Return random words such as keys are made of, each with a digit in it."""
    return st.text(LETTERS, min_size=least, max_size=60).map(lambda text: f"{text}7")


SPEAKING = [
    *("sk-ant-{}", "sk-proj-{}", "ghp_{}", "gho_{}", "github_pat_{}", "glpat-{}"),
    *("xoxb-{}", "xoxp-{}", "npm_{}", "hf_{}", "AIza{}", "sk_live_{}", "SG.{}"),
    *("eyJhbGciOiJI.{}.abcd", "https://me:{}@host/path"),
]
NAMED = [
    *("token={}", "PASSWORD={}", "api_key={}", "OPENAI_API_KEY={}", "secret:{}"),
    *('"token": "{}"', "'password': '{}'", r"{{\"api_key\": \"{}\"}}"),
    *("client_secret = '{}'", "Authorization: Bearer {}", "authorization={}"),
    *("--password {}", "--api-key {} --verbose", "?access_token={}&page=2"),
]
LONG = [
    "sk-{}",
    "key={}",
    "signature: {}",
    "password: {}",
    "bearer {}",
]
FRAGMENTS = [
    *("token", "password", "key", "authorization", "bearer ", "sk-", "eyJ", "-----"),
    *("=", ":", '"', "'", "\\", " ", "--", "://", "@", ".", "\n", HIDDEN),
]


@pytest.mark.parametrize("shape", SPEAKING + NAMED)
@given(secret=token(8), before=WORDS, after=WORDS)
def test_no_secret_outlives_its_masking(
    shape: str, secret: str, before: str, after: str
) -> None:
    text = f"{before} {shape.format(secret)} {after}"

    hidden = masked(text)

    assert secret not in hidden
    assert HIDDEN in hidden
    assert hidden.startswith(f"{before} ")
    assert hidden.endswith(f" {after}")


@pytest.mark.parametrize("shape", LONG)
@given(secret=token(20))
def test_a_long_random_word_after_a_telling_name_is_hidden(
    shape: str, secret: str
) -> None:
    assert secret not in masked(shape.format(secret))


@given(key=st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", min_size=16, max_size=16))
def test_a_cloud_key_is_hidden(key: str) -> None:
    assert key not in masked(f"id AKIA{key} was used")


@given(body=st.lists(st.text(LETTERS + "+/=", min_size=20, max_size=64), min_size=1))
def test_nothing_of_a_private_key_is_left(body: list[str]) -> None:
    lines = "\n".join(body)
    text = f"a\n-----BEGIN RSA PRIVATE KEY-----\n{lines}\n-----END RSA PRIVATE KEY-----"

    for cut in (text + "\nb", text[: -len("-----END RSA PRIVATE KEY-----")]):
        assert not any(line in masked(cut) for line in body)
    assert masked(text + "\nb").endswith("\nb")


@given(st.text())
def test_masking_twice_is_masking_once(text: str) -> None:
    assert masked(masked(text)) == masked(text)


@given(st.lists(st.one_of(st.sampled_from(FRAGMENTS), token(4)), max_size=12))
def test_masking_twice_is_masking_once_also_among_secrets(parts: list[str]) -> None:
    text = "".join(parts)

    assert masked(masked(text)) == masked(text)


@pytest.mark.parametrize(
    "text",
    [
        "loop:x:0001 done in 0.9 s, plateau=true, check passed, $0.12",
        "commit 0123456789abcdef0123456789abcdef01234567",
        "max_tokens=4096 and tokens: 1234",
        "token = get_token()",
        "the password: must be long enough",
        "bearer authentication is what we use",
        "pip install sk-learn; make task-ant-farm",
        "see https://example.com/a:b@c or me@example.com",
        "reading src/password.py and tests/test_token.py",
        "monkey: see, key: do",
        "",
    ],
)
def test_what_is_no_secret_is_left_alone(text: str) -> None:
    assert masked(text) == text


@given(st.lists(WORDS.filter(lambda word: word not in ("bearer", "basic"))))
def test_plain_words_are_never_changed(words: list[str]) -> None:
    text = " ".join(words)

    assert masked(text) == text


@given(secret=token(7), before=st.text(max_size=20), after=st.text(max_size=20))
def test_a_known_secret_is_hidden_wherever_it_stands(
    secret: str, before: str, after: str
) -> None:
    assert secret not in masked(f"{before}{secret}{after}", known=[secret, secret[:6]])


def test_only_values_with_telling_names_are_taken_from_the_environment() -> None:
    environment = {
        "ANTHROPIC_API_KEY": "abcdefgh",
        "GITHUB_TOKEN": "12345678",
        "DB_PASSWORD": "correct horse",
        "SHORT_TOKEN": "1234567",
        "PWD": "/home/somebody/project",
        "GOOGLE_APPLICATION_CREDENTIALS": "/home/somebody/key.json",
        "KEYBOARD": "qwertyuiop",
        "EDITOR": "long-editor-name",
    }

    assert named_secrets(environment) == ("abcdefgh", "12345678", "correct horse")


@pytest.mark.parametrize(
    "part",
    [
        *("a", "token", "password: ", "password='", "-----BEGIN PRIVATE KEY-----"),
        *("://a:", "Bearer ", "eyJ", "eyJ-", "eyJ.", "--a-a-a-", "key=", "sk-", "7"),
    ],
)
def test_a_long_text_is_no_longer_to_mask_than_many_short_ones(part: str) -> None:
    # Quadratic patterns would take minutes here; the test would not end.
    masked(part * (200_000 // len(part)))


@given(st.text('ab"\\\n\té日', min_size=8))
def test_a_known_secret_is_found_in_json_and_in_json_in_json(value: str) -> None:
    known = named_secrets({"SHOP_TOKEN": value})
    for ascii_only in (True, False):
        inner = json.dumps(value, ensure_ascii=ascii_only)
        outer = json.dumps(inner, ensure_ascii=ascii_only)
        assert masked(inner, known) == f'"{HIDDEN}"'
        assert masked(outer, known) == f'"\\"{HIDDEN}\\""'

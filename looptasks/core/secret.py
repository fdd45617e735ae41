"""A secret: text that must not be shown, known by its look or by what stands before."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

HIDDEN = "***"
_SHORTEST = 8  # of a value from the environment that is looked for everywhere


class _Rule(NamedTuple):
    """A way to find secrets: where one of the `hints` occurs, the pattern is tried.

    What the first group matches stays. Quantifiers that could meet another one are
    bounded, so that no text takes longer than its length deserves. Patterns are
    compiled on first use, because a run without secrets need not pay for that.
    """

    hints: tuple[str, ...]
    pattern: str
    after: str = ""

    def hide(self, text: str) -> str:
        """Return the text without what the rule finds."""
        return re.sub(self.pattern, rf"\g<1>{HIDDEN}{self.after}", text)


_NAME = (
    r"(?:pass(?:word|wd|phrase|code)|pwd|secret|token|credentials?"
    r"|(?:api|access|secret|private|signing|encryption|account)[_-]?key(?:[_-]?id)?)"
)
_NAMES = ("passw", "passp", "passc", "pwd", "secret", "token", "credential", "key")
_QUOTE = r"\\{0,3}[\"'`]"
_IS = rf"(?:{_QUOTE})?\s{{0,3}}[:=]\s{{0,3}}"
_BARE = r"[^\s\"'`,;&<>(){}\[\]\\]"
_RANDOM = r"(?=[^\s]{0,63}\d)[\w.~+/=*-]"
_SPEAKING = (
    *("sk-ant-", "sk-proj-", "sk-or-", "sk-svcacct-", "sk-admin-", "ghp_", "gho_"),
    *("ghs_", "ghu_", "ghr_", "github_pat_", "glpat-", "xapp-", "sk_live_", "sk_test_"),
    *("rk_live_", "rk_test_", "pk_live_", "whsec_", "npm_", "pypi-", "hf_", "dop_v1_"),
    *("shpat_", "SG.", "ya29.", "AIza"),
)

_RULES = (
    _Rule(
        ("private key",),
        r"(?s)(-----BEGIN ([A-Z ]{0,30})PRIVATE KEY(?: BLOCK)?-----).*?"
        r"(-----END \2PRIVATE KEY(?: BLOCK)?-----|\Z)",
        after=r"\g<3>",
    ),
    _Rule(("://",), r"(://[^\s/:@]{0,128}:)[^\s/@]{1,512}(?=@)"),
    _Rule(
        tuple(start.lower() for start in _SPEAKING),
        rf"(?<![A-Za-z0-9])({'|'.join(map(re.escape, _SPEAKING))})[\w.~+/=-]{{4,}}",
    ),
    _Rule(("xox",), r"(?<![A-Za-z0-9])(xox[a-z]-)[\w-]{4,}"),
    _Rule(("akia", "asia", "aroa"), r"\b(AKIA|ASIA|AROA)[0-9A-Z]{4,}"),
    _Rule(("eyj",), r"(?<![\w-])(eyJ)[\w-]{4,4096}\.[\w-]{4,}[\w.-]*"),
    _Rule(("sk-",), r"(?<![A-Za-z0-9])(sk-)[\w-]{16,}"),
    # `Authorization: Bearer x`, whatever x looks like
    _Rule(
        ("authorization",),
        rf"(?i)(\bauthorization{_IS}(?:{_QUOTE})?"
        rf"(?:(?:bearer|basic|token|digest|apikey)\s{{1,3}})?){_BARE}+",
    ),
    _Rule(("bearer", "basic"), rf"(?i)(\b(?:bearer|basic)\s{{1,3}}){_RANDOM}{{8,}}"),
    # `--password x`
    _Rule(
        _NAMES,
        rf"(?i)((?<![\w-])--?(?:[a-z]{{1,20}}-){{0,3}}{_NAME}\s{{1,3}}){_BARE}+",
    ),
    # `password="x y"`, `"token": "x"`
    _Rule(
        _NAMES,
        rf"(?i)({_NAME}{_IS}(?P<q>{_QUOTE}))(?:(?!(?P=q))[^\n]){{1,4096}}",
    ),
    # `password=x`, `password:x`
    _Rule(_NAMES, rf"(?i)({_NAME}(?:{_QUOTE})?[:=]){_BARE}+"),
    # `password: x9x9x9x9`, but not `password: must be long`
    _Rule(_NAMES, rf"(?i)({_NAME}{_IS}){_RANDOM}{{8,}}"),
    # any other `key=` when the value is long and random
    _Rule(
        ("key", "auth", "sig", "cookie"),
        r"(?i)((?:key|auth|sig|signature|cookie)"
        rf"{_IS}(?:{_QUOTE})?){_RANDOM}{{16,}}",
    ),
)
_HINTS = tuple(dict.fromkeys(hint for rule in _RULES for hint in rule.hints))
_SIGNLESS = ("akia", "asia", "aroa", "aiza", "bearer", "basic")
_ENVIRONMENT = (
    r"(?i)(?:^|_)(?:(?:API|ACCESS|SECRET|PRIVATE)?_?KEY|TOKEN|SECRET|PASS(?:WORD|WD)?"
    r"|CREDENTIALS?|PAT)$"
)


def masked(text: str, known: Iterable[str] = ()) -> str:
    """Return the text with everything hidden that looks like a secret, or is known.

    >>> masked("export OPENAI_API_KEY=sk-proj-abc123 && make")
    'export OPENAI_API_KEY=*** && make'
    """
    for value in sorted(known, key=len, reverse=True):
        text = text.replace(value, HIDDEN)
    low = text.lower()
    # Most rules need a sign; a gigabyte without any is looked through quickly.
    hints = _HINTS if any(sign in text for sign in ":=-_.") else _SIGNLESS
    found = {hint for hint in hints if hint in low}
    for rule in _RULES if found else ():
        if not found.isdisjoint(rule.hints):
            text = rule.hide(text)
    return text


def named_secrets(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of variables named like secrets, in each of their spellings.

    >>> named_secrets({"HOME": "/home/me", "GITHUB_TOKEN": "0123456789"})
    ('0123456789',)
    """
    return tuple(
        spelling
        for name, value in environment.items()
        if len(value) >= _SHORTEST
        and not value.startswith(("/", "~", "."))
        and re.search(_ENVIRONMENT, name)
        for spelling in _spellings(value)
    )


def _spellings(value: str) -> Iterable[str]:
    """Return the value as it is, and as it stands in JSON, and in JSON in JSON."""
    found = {value: None}
    for _ in range(2):
        for one in tuple(found):
            for ascii_only in (True, False):
                found[json.dumps(one, ensure_ascii=ascii_only)[1:-1]] = None
    return found

"""A suggestion: the known word that a mistyped one was probably meant to be."""

from collections.abc import Iterable

_LONGEST = 64


def suggestion(word: str, known: Iterable[str]) -> str | None:
    """Return the known word nearest to `word`, if any comes close.

    >>> suggestion("platau", ["fixed-n", "plateau"])
    'plateau'
    """
    from difflib import get_close_matches  # noqa: PLC0415 - only mistakes pay for it

    by_lower = {name.lower(): name for name in known}
    near = get_close_matches(word.lower()[:_LONGEST], by_lower, n=1)
    return by_lower[near[0]] if near else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the suggestion as the end of a sentence, empty when there is none.

    >>> did_you_mean("sesion", ["session", "goal"])
    ' (did you mean `session`?)'
    """
    near = suggestion(word, known)
    return f" (did you mean `{near}`?)" if near else ""


def listed(words: Iterable[str]) -> str:
    """Return words in back-ticks, with commas between them."""
    return ", ".join(f"`{word}`" for word in words)


def choice(word: str, known: Iterable[str]) -> str:
    """Return the fix for an unknown word: what it may have meant, and what there is.

    >>> choice("platau", ["fixed-n", "plateau"])
    'did you mean `plateau`? one of `fixed-n`, `plateau`'
    """
    names = tuple(known)
    near = suggestion(word, names)
    if near:
        return f"did you mean `{near}`? one of {listed(names)}"
    return f"use one of {listed(names)}"

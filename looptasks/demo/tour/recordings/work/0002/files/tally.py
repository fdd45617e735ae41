"""Counts the words of a text."""

from collections import Counter

from words import words


def tally(text):
    """Return (word, count) pairs, the most frequent first, equal ones sorted."""
    counts = Counter(words(text))
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))

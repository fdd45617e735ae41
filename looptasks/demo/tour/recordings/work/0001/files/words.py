"""The words of a text."""

import re


def words(text):
    """Return the words in lower case, without punctuation."""
    return re.findall(r"[a-z0-9']+", text.lower())

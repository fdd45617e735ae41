"""A fenced block: the code at the very end of an answer, between two fences."""

import re

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^`\s]*)[^`]*")


def last_block(text: str, language: str) -> str | None:
    r"""Return the block that ends a text, if it is one of that language.

    >>> last_block('Here it is:\n```json\n{}\n```\n', "json")
    '{}'
    """
    # Other line breaks than these may stand in a JSON text.
    lines = text.rstrip().replace("\r\n", "\n").split("\n")
    end = _FENCE.fullmatch(lines[-1])
    if end is None or end[2]:
        return None
    for number in range(len(lines) - 2, -1, -1):
        begin = _FENCE.fullmatch(lines[number])
        if begin and begin[1][0] == end[1][0] and len(begin[1]) <= len(end[1]):
            block = "\n".join(lines[number + 1 : -1])
            return block if begin[2].lower() == language else None
    return None

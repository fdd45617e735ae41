"""Counts the words of a text."""

from collections import Counter

from words import words


def tally(text):
    """Return (word, count) pairs, the most frequent first, equal ones sorted."""
    counts = Counter(words(text))
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def main(argv):
    """Print the five most frequent words of a file."""
    with open(argv[1], encoding="utf-8") as file:
        for word, count in tally(file.read())[:5]:
            print(f"{count:4} {word}")


if __name__ == "__main__":
    import sys

    main(sys.argv)

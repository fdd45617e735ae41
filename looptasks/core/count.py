"""A count: how many there are of something, in words that agree."""


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "bead"), counted(0, "bead"), counted(2, "pass")
    ('1 bead', '0 beads', '2 passes')
    """
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun}{'es' if noun.endswith('s') else 's'}"


def all_of(number: int, noun: str, state: str) -> str:
    """Say that all of them are so.

    >>> all_of(3, "bead", "closed"), all_of(1, "bead", "closed")
    ('all 3 beads are closed', 'the only bead is closed')
    """
    if number == 1:
        return f"the only {noun} is {state}"
    return f"all {counted(number, noun)} are {state}"


def agreeing(number: int, one: str, many: str) -> str:
    """Return the verb that goes with a number.

    >>> agreeing(1, "is", "are"), agreeing(2, "is", "are")
    ('is', 'are')
    """
    return one if number == 1 else many

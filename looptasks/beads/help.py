"""The help: written from the same table that the flags are read by."""

from looptasks.beads.flags import COMMANDS, EVERYWHERE

_INTRO = """\
Beads: small pieces of work, with blockers, in `.beads/issues.jsonl`.

usage: {program} COMMAND [words] [flags]

"""
_OUTRO = """
`{program} COMMAND --help` tells the flags of a command. Beads are looked for in
`BEADS_DIR`, or in the nearest `.beads` from here upwards. Exit code 1 is a refusal.
"""


def overview(program: str) -> str:
    """Return the help on everything."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:{width}}  {entry[1]}\n" for name, entry in COMMANDS.items()]
    return (
        _INTRO.format(program=program) + "".join(lines) + _OUTRO.format(program=program)
    )


def on(command: str, program: str) -> str:
    """Return the help on one command."""
    usage, purpose, flags = COMMANDS[command]
    head = f"usage: {program} {command} {usage}".rstrip() + f"\n\n{purpose}\n\n"
    rows = [_row(*flag) for flag in (*flags, *EVERYWHERE) if flag[3]]
    width = max(len(left) for left, _ in rows)
    return head + "".join(f"  {left:{width}}  {right}\n" for left, right in rows)


def _row(forms: str, name: str, kind: str, meaning: str) -> tuple[str, str]:
    shown = ", ".join(forms.partition("|")[0].split())
    value = {"text": " VALUE", "list": " A,B"}.get(kind, "")
    del name
    return shown + value, meaning

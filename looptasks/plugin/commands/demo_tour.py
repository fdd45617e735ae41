"""The tour: what loops are, in five acts."""

from looptasks.plugin.commands.demo_play import Act, Play, Step

_ACTS = (
    Act(
        "A board that gets done",
        "Four beads (small pieces of work), each blocked by the one before. A fresh "
        "agent per\niteration picks what is ready. (All agents here are recordings: no "
        "model, no network.)",
        (
            Step(
                "doit list session=demo",
                "waves: what can be done now, and what is blocked by what.",
            ),
            Step(
                "doit loop:work session=demo",
                "four agents, one bead each; it stopped because the tracker said so, "
                "not an agent.",
            ),
            Step("python3 -m unittest -q", "the program that they wrote works."),
            Step(
                "doit loop:work session=demo",
                "a finished loop does nothing when it is run again.",
            ),
        ),
    ),
    Act(
        "A loop that knows when to stop",
        "Fresh agents refine docs/plan.md, one after the other, until two in a row "
        "find\nnothing to add.",
        (
            Step(
                "doit loop:refine",
                "the first agent changed the plan, the next two found nothing: "
                "one agent never agrees with itself, so it takes both.",
            ),
        ),
    ),
    Act(
        "A crash that costs nothing",
        "Agents write slug.sh until `sh check.sh` passes, and in the middle of the "
        "third\niteration doit is killed.",
        (
            Step(
                "doit loop:code",
                'agent 1 said "Done!" and the check said no: the check counts. '
                "Then agent 3 was cut off in the middle.",
                fatal=".loop/code/code/iterations/0003/attempts/1/stdout",
            ),
            Step(
                "doit loop:code",
                "to resume is to run it again: iterations 1 and 2 were not repeated.",
            ),
            Step(
                "ls .loop/code/code/iterations/0003/attempts",
                "attempt 1 is the one that was killed; nothing is thrown away.",
            ),
        ),
    ),
    Act(
        "A change that stops where it no longer matters",
        "Two stages: `facts` reads docs/idea.md, `write` makes NOTES.md from that.",
        (
            Step("doit pipeline:notes", "both stages ran, the second from the first."),
            Step(
                "echo 'Thank you for reading.' >> docs/idea.md",
                "an input has changed, though nothing that matters.",
            ),
            Step(
                "doit explain pipeline:notes",
                "before any money is spent: what would run, what might, and why.",
            ),
            Step(
                "doit pipeline:notes",
                "`facts` ran again and came out the same, so `write` rested.",
            ),
        ),
    ),
    Act(
        "The result",
        "What the agents left behind:",
        (
            Step("sh slug.sh 'Hello, World!'", "the program works, as its check said."),
            Step("cat NOTES.md", "the note is there."),
        ),
    ),
)

TOUR = Play(
    project="tour",
    folder="looptasks-demo",
    acts=_ACTS,
    leaves={
        "tally.py": "the program that came out of the board",
        "docs/plan.md": "the plan that came out of `refine`",
        "slug.sh": "the program that came out of `code`",
        "loops/code/": "how a loop is declared: loop.yaml and prompt.md",
        ".loop/code/ledger.jsonl": "everything that happened, the crash included",
        ".loop/code/code/progress.md": "what every fresh agent gets to read",
        ".loop/archive/notes/": "what the changed input has superseded",
    },
)

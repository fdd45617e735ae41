"""The onion: a plan becomes specs, phases and code, in four acts."""

from looptasks.plugin.commands.demo_play import Act, Play, Step
from looptasks.plugin.ending import WAITING

_RUN = "doit -n 2 pipeline:onion session=card"
_PLAN = ".loop/card/plan/output"

_ACTS = (
    Act(
        "A plan that waits for you",
        "A goal becomes a plan, the plan specs, each spec phases, each phase code. You "
        "are asked\nonce. (All agents here are recordings: no model, no network.)",
        (
            Step("cat pipelines/onion.yaml", "this is all that has to be declared."),
            Step(
                f"{_RUN} goal='a birthday card for the terminal'",
                "three agents made the plan, each from the one before; now it waits, "
                "and nothing rests on it yet.",
                code=WAITING,
            ),
            Step(
                "cat .loop/card/plan/current/artifact.json",
                "what there is to judge: two specs.",
            ),
            Step(
                "doit approve plan session=card",
                "the approval is for this very content.",
            ),
        ),
    ),
    Act(
        "Two specs unfold",
        "Each spec becomes phases, each phase tasks, then code, which `sh check.sh` "
        "judges.",
        (
            Step(_RUN, "two specs with three and six phases; two agents at a time."),
            Step("sh card.sh", "the card."),
            Step("sh calls.sh", "so much it took, counted in the ledger."),
            Step(_RUN, "and once it is done, it costs nothing to ask again."),
        ),
    ),
    Act(
        "One text changes",
        "Somebody wants five candles, and says so in the text of one spec of the plan.",
        (
            Step(
                f"cd {_PLAN} && sed 's/three candles/five candles/' plan.json > new "
                "&& mv new plan.json",
                "the plan is a file; an editor would do as well.",
            ),
            Step(
                "doit explain session=card",
                "before it costs anything: one spec will run again, what is below it "
                "may, and the verse rests.",
            ),
        ),
    ),
    Act(
        "What rests on it is done again, and nothing else",
        "The picture is another one. The verse never knew of candles.",
        (
            Step(_RUN, "one spec with its phases and their code; the verse rested."),
            Step("sh card.sh", "another cake, the same verse."),
            Step("sh calls.sh", "a third of the work."),
        ),
    ),
)

ONION = Play(
    project="onion",
    folder="looptasks-onion",
    acts=_ACTS,
    leaves={
        "pipelines/onion.yaml": "how the layers are declared",
        ".loop/card/plan/output/plan.json": "the plan that counts: edit it, run again",
        ".loop/card/spec/picture/output/spec.json": "a spec, likewise",
        ".loop/card/spec/picture/output/spec.md": "the same for people to read",
        ".loop/card/ledger.jsonl": "everything that happened, your approval included",
        ".loop/archive/card/": "the cake with three candles",
    },
)

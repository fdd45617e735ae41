"""A finding: something in a declaration that is wrong (error) or odd (warning)."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from looptasks.errors import DeclarationError

Severity = Literal["error", "warning"]

CODES = {
    "L001": "the loop's file is missing or cannot be read",
    "L002": "the loop's file is not YAML that we accept",
    "L003": "the loop's file is empty or not a mapping of keys to values",
    "L004": "a key that no loop has",
    "L005": "a value of the wrong type, or out of its range",
    "L006": "the loop has no name",
    "L007": "a name that cannot be a loop's",
    "L008": "the loop's name is unlike its folder",
    "L009": "the prompt is missing, empty or cannot be read",
    "L010": "an unknown completion rule",
    "L011": "an unknown agent",
    "L012": "the prompt uses an unknown variable",
    "L013": "`plateau` without an output that can say so",
    "L014": "`plateau` with `min_iterations` under 2",
    "L015": "`validated` without anything that validates",
    "L016": "`all-items` without `items`",
    "L017": "`fixed-n` with `max_iterations` 0 would never end",
    "L018": "`min_iterations` is above `max_iterations`",
    "L019": "`consensus` is above `max_iterations`",
    "L020": "`output_parse` is not a list of `field:MARKER`",
    "L021": "a path that is absolute or leaves the project",
    "L022": "a duration of nothing, or of more than a year",
    "L023": "more `items` than `max_iterations`",
    "L024": "fewer iterations than `perspectives`",
    "L025": "the loop works from another stage, which only a pipeline has",
    "L026": "`writes` holds a pattern where a file is needed",
    "L027": "an artifact that no schema is there for",
    "L028": "an artifact's schema that cannot be used",
    "L029": "`entries` without an artifact whose entries it could count",
    "L030": "`entries` from more to less",
    "L031": "two passes of the same name",
    "L032": "`passes` with a completion rule of its own",
    "L033": "more `passes` than `max_iterations`",
    "L034": "`worktree` where a gate needs the work at hand",
    "P001": "the pipeline's file is missing or cannot be read",
    "P002": "the pipeline's file is not YAML that we accept",
    "P003": "the pipeline's file is empty or not a mapping of keys to values",
    "P004": "a key that no pipeline, `defaults` or stage has",
    "P005": "a value of the wrong type, or out of its range",
    "P006": "the pipeline, or a stage, has no name",
    "P007": "a name that cannot be a pipeline's or a stage's",
    "P008": "the pipeline's name is unlike its file",
    "P009": "no stages",
    "P010": "a stage with both `loop` and `prompt`, or neither",
    "P011": "two stages of the same name",
    "P012": "a stage names an unknown loop",
    "P013": "a stage names an unknown input",
    "P014": "`${INPUTS.x}` of a stage that is unknown, or no input",
    "P015": "a stage without inputs uses `${INPUTS}`",
    "P016": "stages that wait for each other",
    "P017": "`runs` and `max_iterations` disagree",
    "P018": "`each` names an unknown stage, or the stage itself",
    "P019": "an inline prompt that looks like a file, which is not there",
    "P020": "more than one stage over the session's beads",
    "P021": "`each` names a list of a stage that has no artifact",
}
WARNINGS = frozenset({"L008", "L014", "L024", "L025", "L034", "P008", "P015", "P019"})


class Finding(NamedTuple):
    """One thing found, under its code: where, what, and how to mend it."""

    code: str
    severity: Severity
    where: str
    what: str
    fix: str

    def __str__(self) -> str:
        return str(DeclarationError(self.what, where=self.where, fix=self.fix))


class Place(NamedTuple):
    """Where settings stand: a file, and what their keys are called in it."""

    file: str
    prefix: str = ""

    def key(self, name: str) -> str:
        """Return the whole name of a key, such as `stages[2].completion`."""
        return f"{self.prefix}.{name}" if self.prefix else name

    def says(self, name: str, value: object) -> str:
        """Return the beginning of a sentence on a key's value."""
        return f"`{self.key(name)}` is `{str(value)[:80]}`, which"

    @property
    def whole(self) -> str:
        """The file, with the part of it that is meant."""
        return f"{self.file}: {self.prefix}" if self.prefix else self.file


def finding(code: str, where: str, what: str, fix: str) -> Finding:
    """Return a finding; its code decides how severe it is."""
    return Finding(code, "warning" if code in WARNINGS else "error", where, what, fix)


def errors(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings that refuse a declaration, each once."""
    return tuple(dict.fromkeys(f for f in findings if f.severity == "error"))


def refusal(findings: Iterable[Finding]) -> DeclarationError:
    """Return the error that says everything that is wrong, and not just the first."""
    found = tuple(findings)
    if len(found) == 1:
        return DeclarationError(found[0].what, where=found[0].where, fix=found[0].fix)
    return DeclarationError("\n".join(map(str, found)))

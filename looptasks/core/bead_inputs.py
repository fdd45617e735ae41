"""The inputs of a bead: what it asks for, and the outcomes of what it waited for."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from looptasks.core.digest import of_value
from looptasks.core.stage_record import StageRecord

_MARK = "blocker:"


def as_begun(
    record: StageRecord,
    inputs: Mapping[str, str],
    blockers: Sequence[str],
    output: Callable[[str], str],
) -> dict[str, str]:
    """Return a bead's inputs as if it still had the blockers that it began with.

    What it was made to wait for later, or need not wait for any more, is no reason to
    pay for its work again. `output` tells below which path a bead's outcome is.
    """
    if record.started_at is None:
        return {**inputs, **{_MARK + bead: of_value(bead) for bead in blockers}}
    began = {n.removeprefix(_MARK) for n in record.inputs if n.startswith(_MARK)}
    # Older ledgers have no marks.
    began |= {b for b in blockers if _holds_any(output(b), record.inputs)}
    later = tuple(output(bead) for bead in blockers if bead not in began)
    gone = tuple(output(bead) for bead in began.difference(blockers))
    return {
        **{path: d for path, d in inputs.items() if not path.startswith(later)},
        **{p: d for p, d in record.inputs.items() if p.startswith((_MARK, *gone))},
    }


def _holds_any(folder: str, paths: Iterable[str]) -> bool:
    return any(path.startswith(folder) for path in paths)

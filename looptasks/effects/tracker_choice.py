"""The choice of a tracker: the embedded one, or a real `bd` where the project uses it."""

import shlex
import sys

from looptasks.core.tracker import Tracker
from looptasks.effects.jsonl_beads import JsonlBeads, find_folder


def tracker(root: str) -> Tracker:
    """Return the tracker of a project."""
    return JsonlBeads(find_folder(root))


def bd_command(root: str) -> str:
    """Return the tracker's command line, for agents."""
    del root
    return f"{shlex.quote(sys.executable)} -m looptasks.beads"

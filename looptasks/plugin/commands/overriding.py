"""Overriding: a command of doit's that also knows sessions."""

import sys
from collections.abc import Mapping
from typing import Any

from looptasks.errors import LoopError
from looptasks.plugin.commands.yielding import Yielding


class Overriding(Yielding):
    """Mixed into doit's own commands where they must be right for tasks of ours."""

    def execute(self, params: Mapping[str, Any], args: list[str]) -> Any:
        """Do as doit does; a person's mistake is told in words."""
        try:
            return super().execute(params, args)  # type: ignore[misc]
        except LoopError as error:
            sys.stderr.write(f"{error}\n")
            return error.exit_code

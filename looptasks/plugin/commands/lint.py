"""`doit lint`: checks loops and pipelines, with a code for each rule."""

from collections.abc import Mapping
from typing import Any

from looptasks.core.count import counted
from looptasks.core.finding import CODES
from looptasks.effects.yaml_declarations import lint
from looptasks.plugin.commands.asking import AskingCommand
from looptasks.plugin.commands.json_option import OPT_JSON

_OPT_CODES = {
    "name": "codes",
    "short": "",
    "long": "codes",
    "type": bool,
    "default": False,
    "help": "list the codes and what they mean",
}


class Lint(AskingCommand):
    """Checks declarations."""

    name = "lint"
    doc_purpose = "check loops and pipelines; exit 3 on errors"
    doc_usage = "[NAME...]"
    doc_description = "Without a name it checks every loop and pipeline of the project."
    cmd_options: Any = (OPT_JSON, _OPT_CODES)

    def answer(self, params: Mapping[str, Any], words: list[str]) -> int:
        """Print the findings, or what the codes mean."""
        if params["codes"]:
            for code, meaning in CODES.items():
                self.print(f"{code}  {meaning}")
            return 0
        findings = lint(self.root(), words)
        errors = [f for f in findings if f.severity == "error"]
        if params["json"]:
            self.print_json({"findings": [f._asdict() for f in findings]})
        else:
            for finding in findings:
                self.print(str(finding))
            warnings = counted(len(findings) - len(errors), "warning")
            self.print(f"{counted(len(errors), 'error')}, {warnings}")
        return 3 if errors else 0

"""The option `--json`, which every reading command has."""

OPT_JSON = {
    "name": "json",
    "short": "",
    "long": "json",
    "type": bool,
    "default": False,
    "help": "print JSON for programs",
}

"""`doit init`: make a folder a project of loops, overwriting nothing."""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from looptasks.effects.files import make_folder, read_bytes, storing, write_whole
from looptasks.errors import DeclarationError, UsageError
from looptasks.plugin.commands.loader_line import Config, Ini, Toml
from looptasks.plugin.commands.yielding import LoopCommand

_FOLDERS = ("loops", "pipelines")
_NEW_FILES = {
    ".loop/.gitignore": """\
# Sessions are this machine's memory, not the project's source.
*
!.gitignore
!README.md
""",
    ".loop/README.md": """\
One folder per session lives here (`doit status` lists them); superseded work is in \
`archive/`.
Nothing here belongs in version control, and nothing is ever deleted by looptasks.
""",
}


class Edit(NamedTuple):
    """A configuration file as it shall be; `text` is None when it is so already."""

    path: str
    text: str | None


class Init(LoopCommand):
    """Makes the folders, `.loop/.gitignore`, and the line that selects the loader."""

    name = "init"
    doc_purpose = "make this folder a project of loops"
    doc_usage = ""
    doc_description = None
    works_anywhere = True

    def answer(self, params: Mapping[str, Any], words: list[str]) -> int:
        """Look at everything first, so that a refusal leaves nothing half made."""
        if words:
            raise UsageError(
                f"`init` takes no argument, and got `{words[0]}`", fix="run `doit init`"
            )
        edit = plan_edit()
        for line in (*_make_folders(), *_make_files(), _select_loader(edit)):
            self.outstream.write(f"{line}\n")
        self.outstream.write("next: doit list\n")
        return 0


def plan_edit() -> Edit:
    """Return what selects the loader, or say why only a person can."""
    configs = [_read("pyproject.toml", Toml()), _read("doit.cfg", Ini())]
    # doit reads both, and what the second says holds.
    for path, kind, text in reversed(configs):
        chosen = None if text is None else kind.loader(text, path)
        if chosen is not None:
            return _already(path, chosen)
    path, kind, text = configs[0] if configs[0][2] is not None else configs[1]
    return Edit(path, kind.with_loader(text or "", path))


def _already(path: str, chosen: str) -> Edit:
    if chosen == "loops":
        return Edit(path, None)
    raise DeclarationError(
        f"`loader` is `{chosen}`, and doit takes only one",
        where=path,
        fix="change it to `loops` if looptasks shall load the tasks here",
    )


def _read(path: str, kind: Config) -> tuple[str, Config, str | None]:
    with storing(path):
        data = read_bytes(path)
    try:
        return path, kind, None if data is None else data.decode()
    except UnicodeDecodeError as error:
        raise DeclarationError(
            "this is not UTF-8", where=path, fix="save the file as UTF-8"
        ) from error


def _make_folders() -> list[str]:
    return [_made(folder + "/", _make_folder(folder)) for folder in _FOLDERS]


def _make_folder(folder: str) -> bool:
    if os.path.isdir(folder):
        return False
    make_folder(folder)
    return True


def _make_files() -> list[str]:
    return [_made(path, _make_file(path, text)) for path, text in _NEW_FILES.items()]


def _make_file(path: str, text: str) -> bool:
    if os.path.lexists(path):
        return False
    make_folder(os.path.dirname(path))
    write_whole(path, text.encode())
    return True


def _made(path: str, new: bool) -> str:
    return f"made `{path}`" if new else f"`{path}` was there already"


def _select_loader(edit: Edit) -> str:
    if edit.text is None:
        return f"`{edit.path}` selects the loader already"
    # Through a link, and with the permissions that the file has.
    real = os.path.realpath(edit.path)
    mode = os.stat(real).st_mode if os.path.exists(real) else None
    write_whole(real, edit.text.encode())
    if mode is not None:
        os.chmod(real, mode)
    return f"`{edit.path}` now selects the loader `loops`"

"""A demo folder: a small project with recorded agents, copied to where one looks on."""

import os
import shutil

from looptasks.effects.files import storing

_SOURCE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "demo")


def new_demo(parent: str, project: str, name: str) -> str:
    """Copy a project into a folder that was not there before, and return its path."""
    path, count = os.path.join(parent, name), 1
    while os.path.lexists(path):
        count += 1
        path = os.path.join(parent, f"{name}-{count}")
    with storing(path):
        # Contents only: a package may be installed read-only, its copy must not be.
        source = os.path.join(_SOURCE, project)
        shutil.copytree(source, path, copy_function=shutil.copyfile)
    return path

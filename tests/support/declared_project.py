"""A declared project: a folder with a loop and a pipeline, to load and to break."""

import json
from pathlib import Path
from typing import Any

import pytest

import looptasks
from looptasks.effects import yaml_declarations as declarations
from looptasks.errors import DeclarationError

LOOP = """\
name: plan
description: |
  Refine a plan
  until two agree
completion: plateau
min_iterations: 2
max_iterations: 10
output_parse: "plateau:PLATEAU"
timeout: 30m
model: small
reads: docs/plan.md
"""
PIPELINE = """\
name: all
description: Plan and review
defaults: {agent: claude, timeout: 5m, model: middle}
stages:
  - loop: plan
  - name: reviews
    parallel:
      - {name: safe, prompt: "Is ${INPUTS} safe?", runs: 1}
      - {name: fast, prompt: "Is ${INPUTS} fast?", perspectives: [cpu, disk, net]}
  - {name: last, prompt: "Sum up ${INPUTS}.", runs: 1, model: large}
"""


def planned(root: Path) -> str:
    """Write a project with a loop and a pipeline; return its folder."""
    write(root, "loops/plan/loop.yaml", LOOP)
    write(root, "loops/plan/prompt.md", "Plan ${GOAL}.")
    write(root, "pipelines/all.yaml", PIPELINE)
    return str(root)


def write(root: Path | str, name: str, text: str | bytes) -> None:
    """Write a file of a project, with the folders above it."""
    path = Path(root, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)


def refused(root: str, entry: str, **overrides: Any) -> str:
    """Return why an entry is refused."""
    with pytest.raises(DeclarationError) as caught:
        declarations.load(root, entry, overrides=overrides)
    return str(caught.value)


def schema(kind: str) -> dict[str, Any]:
    """Return one of the package's schemas."""
    path = Path(looptasks.__file__).parent / "schemas" / f"{kind}.schema.json"
    found: dict[str, Any] = json.loads(path.read_text())
    return found

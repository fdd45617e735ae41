"""The real agent programs, installed by npm into a folder of the tests' own.

They are kept between runs in `LOOPTASKS_AGENT_CACHE`, or else in the user's cache. None
that is found on the machine is ever started, and none sees our environment.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

from filelock import FileLock

VERSIONS = {
    "@anthropic-ai/claude-code": "2.1.326",
    "@openai/codex": "0.169.0",
    "@google/gemini-cli": "0.61.0",
    "opencode-ai": "1.18.33",
}
_PATIENCE = 600


def cache_folder() -> Path:
    """Return where these versions are kept."""
    named = os.environ.get("LOOPTASKS_AGENT_CACHE")
    base = Path(named) if named else _user_cache() / "looptasks" / "agents"
    return base / "-".join(version for version in VERSIONS.values())


def installed() -> Path:
    """Return the folder with the programs; OSError says why it cannot be had."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not (folder / "complete").exists():
            _install(folder)
    return folder / "node_modules" / ".bin"


def search_path(programs: Path) -> str:
    """Return the PATH of an agent: itself, node, and the system."""
    node = shutil.which("node")
    if node is None:
        raise OSError("node is not installed")
    return f"{programs}:{Path(node).parent}:/usr/bin:/bin"


def _install(folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise OSError("npm is not installed")
    (folder / "package.json").write_text(json.dumps({"private": True}))
    wanted = [f"{name}@{version}" for name, version in VERSIONS.items()]
    quiet = ["--no-audit", "--no-fund", "--loglevel=error", "--cache=npm-cache"]
    try:
        ran = subprocess.run(
            [npm, "install", *quiet, *wanted],
            cwd=folder,
            env=_npm_environment(folder),
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise OSError("npm install takes too long") from error
    if ran.returncode:
        raise OSError(f"npm install failed: {ran.stderr.strip()[-400:]}")
    shutil.rmtree(folder / "npm-cache", ignore_errors=True)
    (folder / "complete").touch()


def _npm_environment(folder: Path) -> dict[str, str]:
    # How to reach the registry is the machine's business; keys are not npm's.
    proxies = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
    ways = ["PATH", *proxies, *(name.lower() for name in proxies)]
    ways += ["npm_config_registry", "NPM_CONFIG_REGISTRY"]
    ways += ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"]
    kept = {name: os.environ[name] for name in ways if name in os.environ}
    return {**kept, "HOME": str(folder)}


def _user_cache() -> Path:
    named = os.environ.get("XDG_CACHE_HOME")
    return Path(named) if named else Path.home() / ".cache"

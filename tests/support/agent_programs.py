"""The real agent programs, installed by npm into a folder of the tests' own.

They are kept between runs in `LOOPTASKS_AGENT_CACHE`, or else in the user's cache. None
that is found on the machine is ever started, and none sees our environment.
"""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from filelock import FileLock

VERSIONS = {
    "@anthropic-ai/claude-code": "2.1.326",
    "@openai/codex": "0.169.0",
    "@google/gemini-cli": "0.61.0",
    "opencode-ai": "1.18.33",
}
PROGRAMS = ("claude", "codex", "gemini", "opencode")
_PATIENCE = 240.0  # seconds; the install is 1.2 GB
_FIRST_START = 30.0


def cache_folder() -> Path:
    """Return where these versions are kept."""
    named = os.environ.get("LOOPTASKS_AGENT_CACHE")
    base = Path(named) if named else _user_cache() / "looptasks" / "agents"
    return base / "-".join(version for version in VERSIONS.values())


def installed(patience: float = _PATIENCE) -> Path:
    """Return the folder with the programs; OSError says why it cannot be had."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock", timeout=2 * patience):
        if not (folder / "complete").exists():
            _install_once(folder, patience)
    return folder / "node_modules" / ".bin"


def search_path(programs: Path) -> str:
    """Return the PATH of an agent: itself, node, and the system."""
    node = shutil.which("node")
    if node is None:
        raise OSError("node is not installed")
    return f"{programs}:{Path(node).parent}:/usr/bin:/bin"


def _install_once(folder: Path, patience: float) -> None:
    """Install, unless another worker of this test run has tried in vain."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    failed = folder / "failed"
    told, _, why = failed.read_text().partition("\n") if failed.exists() else ("",) * 3
    if told == run:
        raise OSError(why)
    try:
        _install(folder, patience)
    except OSError as error:
        failed.write_text(f"{run}\n{error}")
        raise
    failed.unlink(missing_ok=True)


def _install(folder: Path, patience: float) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise OSError("npm is not installed")
    (folder / "package.json").write_text(json.dumps({"private": True}))
    wanted = [f"{name}@{version}" for name, version in VERSIONS.items()]
    quiet = ["--no-audit", "--no-fund", "--loglevel=error", "--cache=npm-cache"]
    words = [npm, "install", *quiet, *wanted]
    _run(words, folder, _npm_environment(folder), patience)
    _try_out(folder)
    shutil.rmtree(folder / "npm-cache", ignore_errors=True)
    (folder / "complete").touch()


def _try_out(folder: Path) -> None:
    """Start each program once: npm is content without those for this platform."""
    programs = folder / "node_modules" / ".bin"
    nowhere = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    env = {**nowhere, "PATH": search_path(programs), "HOME": str(folder)}
    for name in PROGRAMS:
        _run([str(programs / name), "--version"], folder, env, _FIRST_START)


def _run(
    words: Sequence[str], folder: Path, env: Mapping[str, str], patience: float
) -> None:
    """Run a command to its end, or end it with all its children."""
    name, log = Path(words[0]).name, folder / "install.log"
    with log.open("w") as out:
        process = subprocess.Popen(
            words,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        code = process.wait(patience)
    except subprocess.TimeoutExpired as error:
        raise OSError(f"{name} takes longer than {patience:g} s") from error
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if code:
        said = log.read_text(errors="replace").strip()[-400:]
        raise OSError(f"{name} failed with exit code {code}: {said}")


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

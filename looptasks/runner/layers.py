"""The layers of an iteration's check: artifact, then command, then judge.

The first one that fails ends the check, and its words are what the next agent reads.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from looptasks.core.agent import Answer, together
from looptasks.core.artifact import Inspection
from looptasks.core.artifact_text import Problem
from looptasks.core.job import Failed, Job, Tools
from looptasks.core.judgement import Judgement, judgement
from looptasks.core.pipeline import Judge
from looptasks.core.process import Command, check_code
from looptasks.core.step import out_of_time
from looptasks.runner.attempts import adopt, poorer, try_attempts

_SHOWN = 50
_TOLD = 20_000  # characters of a judge's answer: the rest is in its attempt


class Layers(NamedTuple):
    """What the layers came to; `said` is the judge's own answer."""

    validation: Mapping[str, Any] | None = None
    artifact: str = ""
    judge: Mapping[str, Any] | None = None
    said: Answer | None = None

    def spent(self, answer: Answer) -> Answer:
        """Return an answer with what the judge has cost on top."""
        return answer if self.said is None else together(answer, self.said)


def checked_layers(job: Job, tools: Tools, answer: Answer) -> Layers | Failed:
    """Check an iteration; a judge who cannot be asked now is asked by the next run."""
    loop = job.stage.loop
    if loop.artifact or loop.judge:
        tools.folder.new_log()
    found = tools.inspect(answer.text) if tools.inspect else Inspection()
    if found.problems:
        return Layers(_refused(job, tools, found.problems))
    command, code = f"artifact {loop.artifact}" if loop.artifact else "", 0
    if loop.validate:
        command, code = loop.validate, validated(job, tools)
    if loop.judge and code == 0:
        said = _judged(poorer(job, answer), tools, loop.judge)
        if isinstance(said, Failed):
            return said
        return _with_judge(job, tools, found.digest, said)
    check = {"command": command, "exit_code": code} if command else None
    return Layers(check, found.digest)


def validated(job: Job, tools: Tools) -> int:
    """Run the loop's command; return its exit code."""
    log = tools.folder.log()
    ended = tools.processes.run(
        Command(
            argv=("sh", "-c", job.stage.loop.validate),
            cwd=tools.project.root,
            stdin="/dev/null",
            stdout=log,
            stderr=log,
            env=job.env,
            timeout=job.stage.loop.timeout,
        )
    )
    tools.folder.close_log()
    return check_code(ended)


def _refused(job: Job, tools: Tools, problems: Iterable[Problem]) -> dict[str, Any]:
    """Write down what is wrong with an artifact."""
    command, lines = f"artifact {job.stage.loop.artifact}", [*map(str, problems)]
    count = f"{len(lines)} problems, first: " if len(lines) > 1 else ""
    more = [f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    told = "\n".join(f"- {line}" for line in [*lines[:_SHOWN], *more])
    where = f"It belongs at {tools.folder.artifact}\n"
    tools.folder.append_log(f"The {command} is not valid:\n\n{told}\n\n{where}")
    tools.folder.close_log()
    reason = f"`{command}` is not valid: {count}{lines[0]}"
    return {"command": command, "exit_code": 1, "reason": reason}


def _judged(job: Job, tools: Tools, judge: Judge) -> tuple[Judgement, Answer] | Failed:
    """Ask the judge, or take the answer that a crash left behind."""
    loop, agent = job.stage.loop, tools.judge or tools.agent
    model = loop.model if judge.agent is None else ""
    loop = loop._replace(prompt=judge.prompt, model=judge.model or model, delay=0.0)
    job = job._replace(
        stage=job.stage._replace(loop=loop),
        role="judge",
        env={**job.env, "LOOP_ROLE": "judge"},
    )
    tools = tools._replace(agent=agent, folder=tools.folder.judges())
    found = adopt(job, tools) or _unpaid(job) or try_attempts(job, tools)
    if isinstance(found, Failed):
        return found._replace(reason=f"the judge was not heard: {found.reason}")
    _, said = found
    return judgement(tools.folder.chunks(said.text)), said


def _unpaid(job: Job) -> Failed | None:
    """Say that nothing is left for the judge."""
    if job.dollars_left is not None and job.dollars_left <= 0:
        return Failed("budget", "the budget is used up")
    if job.seconds_left is not None and job.seconds_left <= 0:
        return Failed("timeout", out_of_time(job.stage.loop))
    return None


def _with_judge(
    job: Job, tools: Tools, artifact: str, heard: tuple[Judgement, Answer]
) -> Layers:
    found, said = heard
    code = 0 if found.approved else 1
    check: dict[str, Any] = {"command": "judge", "exit_code": code}
    if found.approved:
        check["command"] = job.stage.loop.validate or "judge"
    else:
        check["reason"] = found.spoken()
        told = "".join(tools.folder.chunks(said.text))[-_TOLD:]
        tools.folder.append_log(f"{found.spoken()}\n\n{told}\n")
        tools.folder.close_log()
    return Layers(check, artifact, found.record(said.cost_usd), said)

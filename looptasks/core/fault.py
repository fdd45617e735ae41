"""A fault judged: whether it mends itself, waits for someone, or needs a person."""

import re
from typing import NamedTuple

from looptasks.core.agent import VerdictName
from looptasks.core.reading import Fault

_SHOWN = 400


class Rule(NamedTuple):
    """A kind of fault, how it is recognised, and what mends it."""

    verdict: VerdictName
    what: str
    statuses: frozenset[int]
    pattern: re.Pattern[str]
    fix: str = ""


def _rule(
    verdict: VerdictName, what: str, statuses: set[int], pattern: str, fix: str = ""
) -> Rule:
    return Rule(verdict, what, frozenset(statuses), re.compile(pattern, re.I), fix)


TRANSIENT = _rule("transient", "the model's service failed", set(), "")
_REFUSED = _rule(
    "error",
    "the request was refused",
    set(),
    "",
    "see the attempt's stdout and stderr for what the service did not like",
)
# In order: a prompt that is too long may also come as 400 or 413.
RULES = (
    _rule(
        "error",
        "the prompt is too long for the model",
        {413},
        r"(?:prompt|request|input) is too l(?:ong|arge)|prompt.too.long"
        r"|context.(?:window|length)|maximum context|too many (?:input )?tokens"
        r"|input token count|token limit exceeded",
        "shorten the prompt or what it includes, or name a model with a larger context",
    ),
    _rule(
        "limit",
        "out of credit",
        {402},
        r"credit balance|insufficient.(?:quota|credit|funds)|billing|payment required",
        "add credit to the account, or name another agent",
    ),
    _rule(
        "limit",
        "usage limit",
        {429},
        r"usage.limit|rate.?limit|limit (?:reached|exceeded)|hit your .{0,20}limit"
        r"|\bquota\b|too many requests|resource.?exhausted|limit will reset",
    ),
    _rule(
        "error",
        "the key or login was refused",
        {401, 403},
        r"(?:invalid|incorrect|missing|no|expired) (?:x-)?api.?key|api.?key not valid"
        r"|unauthori[sz]ed|authentication|not logged in|/login|please log ?in"
        r"|token (?:has )?expired|auth method",
        "log the agent in, or set its key in the environment that `env` lets through",
    ),
    _rule(
        "error",
        "the model is unknown",
        {404},
        r"model.{0,80}(?:not found|not exist|not supported|not have access)"
        r"|(?:unknown|invalid|no such) model|model.?not.?found|models/\S+ is not found",
        "name a model that the agent knows in `model`",
    ),
    _rule(
        "error",
        "it does not understand how it was started",
        set(),
        r"unknown option|unexpected argument|unrecognized (?:option|argument)"
        r"|unknown argument|invalid value|no longer supported|error loading config",
        "check `args` and the agent's own configuration, or its version",
    ),
    _rule(
        "error",
        "its budget for one attempt is used up",
        set(),
        r"max.budget|maximum budget",
        "raise `budget_usd`",
    ),
    _rule(
        "error",
        "it reached its number of turns",
        set(),
        r"max.turns",
        "raise the number in `args`, or give it less to do in one iteration",
    ),
    _rule(
        "garbled",
        "the service answered with something else than an answer",
        set(),
        r"malformed|incomplete json|(?:invalid|not valid) json|unexpected token"
        r"|json.?parse|failed to parse",
    ),
    _rule("interrupted", "it was interrupted", set(), r"\baborted_(?:tools|streaming)"),
)


def rule_for(fault: Fault) -> Rule:
    """Return the rule that a fault falls under; what nothing is known of may pass."""
    words = f"{fault.message} {fault.kind}"[:4000]
    bad_request = fault.status in (400, 422)
    if fault.status is not None and not bad_request:
        return _by_status(fault.status, words)
    for rule in RULES:
        if rule.pattern.search(words):
            return rule
    return _REFUSED if bad_request else TRANSIENT


def _by_status(status: int, words: str) -> Rule:
    credit = RULES[1]
    if status == 429 and credit.pattern.search(words):  # noqa: PLR2004
        return credit
    return next((rule for rule in RULES if status in rule.statuses), TRANSIENT)


def judged(fault: Fault) -> tuple[VerdictName, str]:
    """Return the verdict on a fault, with the reason and what mends it."""
    rule = rule_for(fault)
    words = " ".join(fault.message[: 4 * _SHOWN].split())[:_SHOWN]
    status = f" ({fault.status})" if fault.status else ""
    reason = f"{rule.what}{status}: {words}"
    return rule.verdict, f"{reason}\n  fix: {rule.fix}" if rule.fix else reason

"""`doit approve`, `doit reject`, `doit iterate`: a person's word to a stage."""

from collections.abc import Mapping
from typing import Any

from looptasks.core.gate import Answer, meant, typed
from looptasks.core.request import Request
from looptasks.core.suggestion import listed
from looptasks.errors import UsageError
from looptasks.plugin.commands.asking import AskingCommand
from looptasks.plugin.engagement import existing
from looptasks.plugin.gates import again, answer, questions, stage_meant
from looptasks.plugin.person import person
from looptasks.plugin.workplace import Workplace


class _Answering(AskingCommand):
    """Puts an answer into the ledger, whether a run is on or not."""

    doc_description = (
        "STAGE is `plan`, `stage:plan` or an instance such as `spec:db-schema`; it may "
        "be left out when only one waits. The first answer wins."
    )

    must_say = ""

    def answer(self, params: Mapping[str, Any], words: list[str]) -> int:
        """Record the answer; say what was decided, and how it goes on."""
        self.refuse_words(words, after=1)
        request = self.asked()
        place = existing(self.root(), request).place
        stage = self._stage(place, words)
        said = self.said(request)
        if self.must_say and not getattr(said, self.must_say):
            raise self._mute(stage, place)
        given = answer(place, stage, said)
        then = again(place)
        if params["json"]:
            fields = {"session": place.session, "stage": stage, **given._asdict()}
            self.print_json({**fields, "next": then})
            return 0
        self.print(f"{typed(stage)} is {given.spoken()}")
        self.print(self._then(place, then))
        return 0

    def said(self, request: Request) -> Answer:
        """Return what the command line says."""
        reason, feedback = (request.reason or "").strip(), ""
        if self.must_say == "feedback":
            feedback = (request.feedback or "").strip()
        who = person(request)
        return Answer(self.name, who, "", reason=reason, feedback=feedback)

    def _mute(self, stage: str, place: Workplace) -> UsageError:
        way = f"doit {self.name} {typed(stage)} session={place.session}"
        return UsageError(
            f"`doit {self.name}` needs words: `{self.must_say}=` is missing or empty",
            fix=f'say it: `{way} {self.must_say}="…"`',
        )

    def _then(self, place: Workplace, then: str) -> str:
        owner = place.lock.owner()
        if owner is not None:
            return f"session {place.session} is running (pid {owner.pid}) and heeds it"
        return f"to go on: {then}"

    def _stage(self, place: Workplace, words: list[str]) -> str:
        if words:
            return stage_meant(place, meant(words[0]))
        waiting = [asked.stage for asked in questions(place)]
        if len(waiting) == 1:
            return waiting[0]
        if not waiting:
            raise UsageError(
                f"nothing in session `{place.session}` waits for an answer",
                fix=f"name a stage; `doit status session={place.session}` shows all",
            )
        ways = [f"doit {self.name} {typed(s)} session={place.session}" for s in waiting]
        raise UsageError("several stages wait", fix=f"say which: {listed(ways)}")


class Approve(_Answering):
    """Lets a stage's work through its gate."""

    name = "approve"
    doc_purpose = "let the work of a stage through its gate"
    doc_usage = "[STAGE] session=S [reason=TEXT] [by=NAME]"


class Reject(_Answering):
    """Fails a stage at its gate."""

    name = "reject"
    must_say = "reason"
    doc_purpose = "fail a stage at its gate, and say why"
    doc_usage = "[STAGE] session=S reason=TEXT [by=NAME]"


class Iterate(_Answering):
    """Has one more iteration of a stage, told what to do differently."""

    name = "iterate"
    must_say = "feedback"
    doc_purpose = "have one more iteration of a stage, with your feedback"
    doc_usage = "[STAGE] session=S feedback=TEXT [by=NAME]"

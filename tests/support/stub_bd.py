#!/usr/bin/env python3
"""A small `bd`: obeys the page on beads, and shares no code with looptasks.

Keeps its beads in `.beads/stub.db`, a JSON object by id, which no other tool reads.
"""

# A script that stands for a foreign program; it is run, never imported.
# ruff: noqa: ANN001, ANN002, ANN201, ARG001, C901, N818
# mypy: ignore-errors

import fcntl
import json
import os
import random
import sys
import time
from pathlib import Path

LISTS = {"-l", "--label", "--labels", "--label-any", "--deps"}
LISTS |= {"--add-label", "--remove-label", "--exclude-label", "--set-labels"}
YES = {"--json", "--claim", "--force", "--silent", "--all", "--dry-run"}
SHORT = {"-l": "--label", "-p": "--priority", "-t": "--type", "-d": "--description"}
SHORT |= {"-a": "--assignee", "-n": "--limit", "-s": "--status", "-r": "--reason"}
SHORT |= {"--labels": "--label", "-f": "--force"}
KINDS = {"feat": "feature", "enhancement": "feature", "adr": "decision"}


class Refused(Exception):
    pass


def parse(typed):
    words, flags = [], {}
    rest = iter(typed)
    for word in rest:
        if not word.startswith("-"):
            words.append(word)
            continue
        name, equals, value = word.partition("=")
        is_list = name in LISTS
        name = SHORT.get(name, name)
        if name in YES:
            flags[name] = True
            continue
        value = value if equals else next(rest)
        if is_list:
            flags.setdefault(name, []).extend(value.split(","))
        else:
            flags[name] = value
    return words, flags


def now():
    fraction = f"{time.time() % 1:.6f}"[1:]
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + fraction + "Z"


def done(bead):
    return bead["status"] in ("closed", "pinned", "tombstone")


def needs(bead, *ways):
    entries = bead.get("dependencies", [])
    return [d["depends_on_id"] for d in entries if d["type"] in ways]


def blockers(db, bead):
    ids = needs(bead, "blocks", "conditional-blocks")
    return [i for i in ids if i in db and not done(db[i])]


def held(db, bead, depth=0):
    if done(bead) or depth > 9:
        return False
    above = [db[i] for i in needs(bead, "parent-child") if i in db]
    return bool(blockers(db, bead)) or any(held(db, p, depth + 1) for p in above)


def get(db, name):
    if name not in db:
        raise Refused(f'no issue found matching "{name}"')
    return db[name]


def reaches(db, start, end):
    seen, queue = set(), [start]
    while queue:
        here = queue.pop()
        if here == end:
            return True
        if here not in seen and here in db:
            seen.add(here)
            queue += needs(db[here], "blocks", "parent-child", "waits-for")
    return False


def link(db, user, on, way):
    get(db, on)
    if user["id"] == on:
        raise Refused("issue cannot depend on itself")
    if way in ("blocks", "parent-child") and reaches(db, on, user["id"]):
        raise Refused("adding dependency would create a cycle")
    entry = {"issue_id": user["id"], "depends_on_id": on, "type": way}
    user.setdefault("dependencies", []).append({**entry, "created_at": now()})


def create(db, words, flags, actor):
    title = words[0] if words else flags.get("--title", "")
    if not 0 < len(title) <= 500:
        raise Refused("title must be 1 to 500 characters")
    parent = flags.get("--parent")
    stem = f"{get(db, parent)['id']}." if parent else "stub-"
    number = 1 + sum(i.startswith(stem) for i in db)
    tail = str(number) if parent else f"{random.randrange(36**4):05d}"
    priority = flags.get("--priority", "2").upper().removeprefix("P")
    if priority not in "01234":
        raise Refused("invalid priority")
    bead = {"id": flags.get("--id", stem + tail), "title": title, "status": "open"}
    kind = flags.get("--type", "task")
    bead |= {"priority": int(priority), "issue_type": KINDS.get(kind, kind)}
    bead |= {"created_at": now(), "created_by": actor, "updated_at": now()}
    for flag, key in FIELDS.items():
        if flags.get(flag):
            bead[key] = flags[flag]
    labels = [
        *flags.get("--label", ()),
        *(db[parent].get("labels", ()) if parent else ()),
    ]
    if labels:
        bead["labels"] = sorted(set(labels))
    db[bead["id"]] = bead
    if parent:
        link(db, bead, parent, "parent-child")
    for text in flags.get("--deps", ()):
        way, _, on = text.rpartition(":")
        if way == "blocks":
            link(db, get(db, on), bead["id"], "blocks")
        else:
            link(db, bead, on, way or "blocks")
    return bead["id"] if "--silent" in flags else bead


FIELDS = {
    "--description": "description",
    "--acceptance": "acceptance_criteria",
    "--assignee": "assignee",
    "--notes": "notes",
    "--defer": "defer_until",
    "--title": "title",
}


def update(db, words, flags, actor):
    for bead in (get(db, w) for w in words):
        if "--claim" in flags:
            holder = bead.get("assignee")
            if holder not in (None, actor) or bead["status"] not in (
                "open",
                "in_progress",
            ):
                raise Refused(f"already claimed by {holder}")
            bead |= {"assignee": actor, "status": "in_progress", "started_at": now()}
        for flag, key in {**FIELDS, "--status": "status"}.items():
            if flag in flags:
                bead[key] = flags[flag]
        if "--priority" in flags:
            bead["priority"] = int(flags["--priority"].upper().removeprefix("P"))
        if "--append-notes" in flags:
            old = bead.get("notes")
            new = flags["--append-notes"]
            bead["notes"] = f"{old}\n{new}" if old else new
        labels = flags.get("--set-labels", bead.get("labels", []))
        labels = {*labels, *flags.get("--add-label", ())}
        bead["labels"] = sorted(labels - {*flags.get("--remove-label", ())})
        bead["updated_at"] = now()
        for key in [k for k, v in bead.items() if v in ("", [])]:
            del bead[key]
    return [db[w] for w in words]


def close(db, words, flags, actor):
    for bead in (get(db, w) for w in words):
        open_ones = blockers(db, bead)
        if bead["issue_type"] == "epic":
            children = [
                b for b in db.values() if bead["id"] in needs(b, "parent-child")
            ]
            open_ones += [b["id"] for b in children if not done(b)]
        if open_ones and "--force" not in flags:
            raise Refused(f"blocked by open issues {open_ones}")
        bead |= {"status": "closed", "closed_at": now(), "updated_at": now()}
        bead["close_reason"] = flags.get("--reason", "Closed")
    return [db[w] for w in words]


def reopen(db, words, flags, actor):
    for bead in (get(db, w) for w in words):
        bead |= {"status": "open", "updated_at": now()}
        bead.pop("closed_at", None)
        bead.pop("close_reason", None)
    return [db[w] for w in words]


def wanted(db, flags):
    found = [
        b
        for b in db.values()
        if set(flags.get("--label", ())) <= set(b.get("labels", ()))
        and (
            "--label-any" not in flags
            or set(flags["--label-any"]) & set(b.get("labels", ()))
        )
        and not set(flags.get("--exclude-label", ())) & set(b.get("labels", ()))
    ]
    newest_last = sorted(found, key=lambda b: b["id"])
    newest_last.sort(key=lambda b: b["created_at"], reverse=True)
    return sorted(newest_last, key=lambda b: b["priority"])


def limited(found, flags):
    limit = int(flags.get("--limit", 100))
    return found[:limit] if limit else found


def ready(db, words, flags, actor):
    found = [
        b
        for b in wanted(db, flags)
        if b["status"] == "open"
        and not held(db, b)
        and b.get("defer_until", "") < now()
    ]
    if "--claim" in flags:
        return update(db, [b["id"] for b in found[:1]], {"--claim": True}, actor)
    return limited(found, flags)


def list_(db, words, flags, actor):
    every = "--all" in flags
    return limited([b for b in wanted(db, flags) if every or not done(b)], flags)


def blocked(db, words, flags, actor):
    return [
        {**b, "blocked_by": blockers(db, b), "blocked_by_count": len(blockers(db, b))}
        for b in wanted(db, flags)
        if held(db, b)
    ]


def dep(db, words, flags, actor):
    what, name, *rest = words
    bead = get(db, name)
    if what == "list":
        ids = {d["depends_on_id"]: d["type"] for d in bead.get("dependencies", [])}
        return [{**db[i], "dependency_type": way} for i, way in ids.items()]
    on = rest[0]
    if what == "add":
        link(db, bead, on, flags.get("--type", "blocks"))
        said = {"issue_id": name, "depends_on_id": on, "type": "blocks"}
        return {"status": "added", **said}
    kept = [d for d in bead.get("dependencies", []) if d["depends_on_id"] != on]
    bead["dependencies"] = kept
    return {"status": "removed", "issue_id": name, "depends_on_id": on}


def label(db, words, flags, actor):
    what, name, *rest = words
    if what == "list":
        return get(db, name).get("labels", [])
    update(db, [name], {f"--{what}-label": rest}, actor)
    return [{"status": f"{what}ed", "issue_id": name, "label": rest[0]}]


def show(db, words, flags, actor):
    return [get(db, w) for w in words]


COMMANDS = {
    "create": create,
    "update": update,
    "close": close,
    "reopen": reopen,
    "ready": ready,
    "list": list_,
    "blocked": blocked,
    "dep": dep,
    "label": label,
    "show": show,
}


def main():
    command, *typed = sys.argv[1:]
    if command == "version":
        print("bd version stub")
        return 0
    words, flags = parse(typed)
    actor = flags.get("--actor") or os.environ.get("BD_ACTOR") or "stub-user"
    path = Path(".beads/stub.db")
    with Path(".beads/stub.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        db = json.loads(path.read_text()) if path.exists() else {}
        if command == "export":
            print("".join(json.dumps(db[i]) + "\n" for i in sorted(db)), end="")
            return 0
        try:
            answer = COMMANDS[command](db, words, flags, actor)
        except Refused as error:
            print(json.dumps({"error": str(error), "code": "stub"}), file=sys.stderr)
            return 1
        if "--dry-run" not in flags:
            path.write_text(json.dumps(db))
    if isinstance(answer, str):
        print(answer)
        return 0
    if os.environ.get("BD_JSON_ENVELOPE") == "1":
        answer = {"schema_version": 1, "data": answer}
    print(json.dumps(answer, indent=2) if "--json" in flags else "done")
    return 0


if __name__ == "__main__":
    sys.exit(main())

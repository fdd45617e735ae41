"""Flags: what each command takes, as `bd` spells it."""

from __future__ import annotations

# Spellings, name, kind (text, list, yes), meaning. A list is split at commas, and may
# be said again. Spellings after a bar are understood, and not shown.
EVERYWHERE = (
    ("--json", "json", "yes", "print JSON"),
    ("--actor", "actor", "text", "who does this (also BD_ACTOR)"),
    ("-q --quiet", "quiet", "yes", "print only what is asked for"),
    ("-h --help", "help", "yes", "show this help"),
    ("| --no-daemon --sandbox --no-pager --flat", "ignored", "yes", ""),
)
_BODY = (
    ("-d --description | --body -m --message", "description", "text", "what and why"),
    ("--body-file | --description-file", "body_file", "text", "description: a file, -"),
    ("--stdin", "stdin", "yes", "read the description from standard input"),
    ("--design", "design", "text", "design notes"),
    ("--acceptance | --acceptance-criteria", "acceptance", "text", "when it is done"),
    ("--notes", "notes", "text", "additional notes"),
    ("-a --assignee", "assignee", "text", "who works on it"),
    ("-e --estimate", "estimate", "text", "minutes it will take"),
    ("--external-ref", "external_ref", "text", "name elsewhere, such as gh-9"),
    ("--due", "due", "text", "due: +6h, +1d, +2w, tomorrow, a date, a time"),
    ("--defer", "defer", "text", "not ready before: the same forms; '' clears it"),
    ("-p --priority", "priority", "text", "0 (first) to 4, or P0 to P4"),
)
_CHOICE = (
    ("-l --label | --labels", "labels", "list", "with all these labels"),
    ("--label-any", "any_labels", "list", "with at least one of these labels"),
    ("--exclude-label", "without_labels", "list", "with none of these labels"),
    ("-a --assignee", "assignee", "text", "assigned to"),
    ("-t --type", "types", "list", "of this type"),
    ("--exclude-type", "without_types", "list", "not of this type"),
    ("-p --priority", "priority", "text", "of this priority"),
    ("-n --limit", "limit", "text", "at most so many; 0 is all"),
    ("--sort", "sort", "text", "priority, created, updated, id, title, status, type"),
    ("-r --reverse", "reverse", "yes", "the other way round"),
)
_UNASSIGNED = ("-u --unassigned | --no-assignee", "unassigned", "yes", "nobody's")
_REASON = "-r --reason | -m --message --comment --resolution"
# Name, usage, purpose, flags.
COMMANDS: dict[str, tuple[str, str, tuple[tuple[str, str, str, str], ...]]] = {
    "create": (
        "TITLE",
        "add a bead",
        (
            ("--title", "title", "text", "the title, if not given as a word"),
            (
                "-t --type",
                "type",
                "text",
                "task, bug, feature, epic, chore, decision …",
            ),
            *_BODY,
            ("-l --labels | --label", "labels", "list", "labels"),
            ("--parent", "parent", "text", "make it a child; it inherits labels"),
            ("--no-inherit-labels", "no_inherit", "yes", "without the parent's labels"),
            ("--deps", "deps", "list", "ID it depends on, TYPE:ID, or blocks:ID"),
            ("--waits-for", "waits_for", "text", "wait for the children of a bead"),
            ("--waits-for-gate", "gate", "text", "all-children or any-children"),
            ("--id", "id", "text", "an id of your own"),
            ("--silent", "silent", "yes", "print the id, nothing else"),
            ("--dry-run", "dry_run", "yes", "show what would be made"),
            ("--ephemeral", "ephemeral", "yes", "short-lived, never ready"),
            ("| --force", "ignored", "yes", ""),
        ),
    ),
    "list": (
        "",
        "show beads that are not closed",
        (
            *_CHOICE,
            _UNASSIGNED,
            ("-s --status", "statuses", "list", "of this status, `all` for any"),
            ("--all", "all", "yes", "closed ones too"),
            ("--parent", "parent", "text", "children of a bead"),
            ("--id", "ids", "list", "only these ids"),
            ("--title | --title-contains", "title", "text", "with this in the title"),
            ("--ready", "ready", "yes", "only what is ready"),
            ("| --long --tree --pretty", "ignored", "yes", ""),
        ),
    ),
    "ready": (
        "",
        "show beads that can be worked on now",
        (
            *_CHOICE,
            _UNASSIGNED,
            ("--parent", "under", "text", "below a bead, at any depth"),
            ("--claim", "claim", "yes", "take the first one, and show it"),
            ("--explain", "explain", "yes", "say also what holds the others"),
            ("| --pretty --plain", "ignored", "yes", ""),
        ),
    ),
    "blocked": (
        "",
        "show beads that something holds, and what",
        (*_CHOICE, ("--parent", "under", "text", "below a bead, at any depth")),
    ),
    "show": (
        "ID...",
        "show beads in full",
        (
            ("--id", "ids", "list", "an id that looks like a flag"),
            ("--short", "short", "yes", "one line each"),
            ("| --long", "ignored", "yes", ""),
        ),
    ),
    "update": (
        "ID...",
        "change beads",
        (
            ("-s --status", "status", "text", "open, in_progress, blocked, deferred …"),
            ("--title", "title", "text", "another title"),
            ("-t --type", "type", "text", "another type"),
            *_BODY,
            ("--append-notes", "append_notes", "text", "add a line to the notes"),
            ("--add-label", "add_labels", "list", "add labels"),
            ("--remove-label", "remove_labels", "list", "take labels away"),
            ("--set-labels", "set_labels", "list", "these labels and no others"),
            ("--parent", "parent", "text", "another parent; '' for none"),
            ("--claim", "claim", "yes", "take it, unless somebody has it"),
        ),
    ),
    "close": (
        "ID...",
        "say that beads are done",
        (
            (_REASON, "reason", "text", "how it went"),
            ("-f --force", "force", "yes", "although something is open that holds it"),
            ("--suggest-next", "next", "yes", "show what has become ready"),
            ("| --session", "session", "text", ""),
        ),
    ),
    "reopen": (
        "ID...",
        "say that closed beads are not done after all",
        (("-r --reason", "reason", "text", "why; becomes a comment"),),
    ),
    "dep": (
        "add ID ON | remove ID ON | list ID | tree ID | cycles",
        "say what depends on what: ID depends on ON",
        (
            ("-t --type", "type", "text", "blocks (default), parent-child, related …"),
            ("--blocked-by | --depends-on", "on", "text", "what ID depends on"),
            ("--direction", "direction", "text", "list, tree: down (default) or up"),
            ("--reverse", "reverse", "yes", "tree: the same as --direction=up"),
            ("--format", "format", "text", "tree: mermaid"),
            ("-b --blocks", "blocks", "text", "dep ID --blocks OTHER"),
            ("| --show-all-paths --no-cycle-check", "ignored", "yes", ""),
        ),
    ),
    "label": (
        "add ID... LABEL | remove ID... LABEL | list ID | list-all",
        "label beads",
        (),
    ),
    "import": (
        "[FILE]",
        "take in beads from JSON lines (standard input by default)",
        (
            ("-i --input", "input", "text", "the file"),
            ("--dry-run", "dry_run", "yes", "only say what would be done"),
            ("--allow-stale", "stale", "yes", "also replace beads by older ones"),
        ),
    ),
    "export": (
        "",
        "print all beads as JSON lines",
        (
            ("-o --output", "output", "text", "write to a file"),
            ("-s --status", "statuses", "list", "only of this status"),
            ("-l --label", "labels", "list", "only with all these labels"),
            ("| --all --include-infra", "ignored", "yes", ""),
        ),
    ),
    "graph": (
        "[ID]",
        "draw what waits for what: all open beads, or one and what it needs",
        (
            ("-l --label", "labels", "list", "only with all these labels"),
            ("--all", "all", "yes", "closed ones too"),
            ("--dot", "dot", "yes", "for Graphviz"),
            ("--mermaid", "mermaid", "yes", "for Mermaid"),
            ("| --compact --box", "ignored", "yes", ""),
        ),
    ),
}

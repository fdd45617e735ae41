"""Stock commands: doit's own, registered so that they too step aside where they should.

Only a command of ours can take our names off the list of names that no task may have.
"""

from doit import cmd_completion, cmd_help, cmd_ignore, cmd_resetdep, cmd_strace

from looptasks.plugin.commands.yielding import Yielding


class Ignore(Yielding, cmd_ignore.Ignore):
    """`doit ignore`: leave a task out of the runs to come."""


class ResetDep(Yielding, cmd_resetdep.ResetDep):
    """`doit reset-dep`: take the files as they are for what the tasks last saw."""


class Strace(Yielding, cmd_strace.Strace):
    """`doit strace`: list the files that a task really opens."""


class TabCompletion(Yielding, cmd_completion.TabCompletion):
    """`doit tabcompletion`: a script that completes names in the shell."""


class Help(Yielding, cmd_help.Help):
    """`doit help`: the commands, and what each can do."""

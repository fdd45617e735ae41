"""The runner: one iteration, start to finish, through protocols."""

from looptasks.runner.iteration import run_iteration

__all__ = ["run_iteration"]

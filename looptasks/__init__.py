"""looptasks runs coding agents in loops, as doit tasks."""

__version__ = "0.1.0"

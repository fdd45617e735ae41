"""One file per doit command."""

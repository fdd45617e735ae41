"""The embedded tracker's command line, a compatible subset of `bd`."""

"""The plugin speaks doit."""

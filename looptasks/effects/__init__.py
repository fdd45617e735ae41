"""Effects touch the world: one file per technology."""

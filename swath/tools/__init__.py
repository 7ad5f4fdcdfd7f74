"""What a program may call: one file per family of tools, one registry."""

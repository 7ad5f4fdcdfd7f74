"""Who turns pixels into classes: a protocol and one file per backend."""

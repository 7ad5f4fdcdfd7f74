"""Trained networks as sources of classes: the embedded one and those of users."""

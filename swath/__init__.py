"""swath answers questions about overhead imagery by measuring, not by guessing."""

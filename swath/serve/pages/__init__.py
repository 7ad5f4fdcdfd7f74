"""Self-contained HTML pages of runs and batches, made from their folders."""

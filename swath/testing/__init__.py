"""Public fakes of every seam, for tests and docs."""

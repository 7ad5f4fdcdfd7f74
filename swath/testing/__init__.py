"""Public fakes of every seam, for tests and docs: a scripted planner, painted shapes, a tiny benchmark."""

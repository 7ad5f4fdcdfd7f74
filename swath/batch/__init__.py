"""The agent over many images and cases: local processes, resumable tables, surveys."""

"""From a question to an answer: planners, checker, sandbox, graph, run folders, replay."""

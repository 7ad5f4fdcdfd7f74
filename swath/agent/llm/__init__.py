"""The language-model planner: client, prompts, three ways to plan; nothing here is loaded unless a model is named."""

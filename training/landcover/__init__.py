"""The land-cover network: its data, its training, its export and its numbers."""

"""Pages for people who look: runs, comparisons, batches, and the server that shows them."""

"""How the embedded models are made; needs the extra `train`, and nothing in `swath` imports it."""

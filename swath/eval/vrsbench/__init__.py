"""VRSBench: captions, referring expressions and questions about 512 x 512 aerial images (arXiv 2406.12384)."""

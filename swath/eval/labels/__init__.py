"""The self-test: any folder of label maps made into a benchmark, its truth measured without swath's tools."""

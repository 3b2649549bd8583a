"""New pairs for the benchmark: choosing them, a page for raters, and export in upstream's raw format."""

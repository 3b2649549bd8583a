"""Cards for what is published on the Hub: written from result files, and checked."""

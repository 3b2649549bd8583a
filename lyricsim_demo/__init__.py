"""A page for trying a model out: two lyrics and their score, or a list ranked for one lyric."""

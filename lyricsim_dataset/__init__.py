"""LyricSIM as a dataset: from upstream's files to a folder that ``load_dataset`` reads."""

from lyricsim_dataset.loading import load

__all__ = ["load"]

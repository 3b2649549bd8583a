"""LyricSIM and the Spanish SentEval similarity tasks as tasks of mteb.

``lyricsim_mteb.tasks.register()`` makes them known to ``mteb.get_tasks``; docs/mteb.md tells the rest. No
other package imports this one, whose modules load mteb.
"""

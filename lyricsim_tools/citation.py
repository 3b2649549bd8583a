"""How to cite the paper; cards and builders read it from here."""

PAPER_ID = "2306.01325"
PAPER_URL = f"https://arxiv.org/abs/{PAPER_ID}"
PAPER_TITLE = "LyricSIM: A novel dataset and benchmark for similarity detection in Spanish song lyrics"
PAPER_BIBTEX = f"""@article{{lyricsim2023,
  title  = {{{PAPER_TITLE}}},
  author = {{Benito-Santos, Alejandro and Ghajari, Adrián and Hernández, Pedro and Fresno, Víctor
            and Ros, Salvador and González-Blanco, Elena}},
  year   = {{2023}},
  note   = {{SEPLN 2023, arXiv:{PAPER_ID}}},
  url    = {{{PAPER_URL}}}
}}"""

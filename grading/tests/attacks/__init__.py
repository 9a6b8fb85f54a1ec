"""Hostile submissions with their required outcomes and honest twins."""

import sys
from pathlib import Path

CORPUS = Path(__file__).resolve().parents[3] / "course" / "tests"
sys.path.append(str(CORPUS))  # as pytest does; the tiny class shares the corpus

"""Where the notebook lies: beside its record, below the folder that holds all chapters."""

from pathlib import Path

FOLDER = Path.cwd()  # where the kernel started, wherever its code goes later; a forked kernel sets it again

"""Startup code of each kernel that `gradlab lab` starts, run as its PYTHONSTARTUP; it leaves no names behind.

It moves the notebook's folder to the end of the search path, so a file there never shadows an installed module.
"""


def _search_the_notebooks_folder_last():
    import sys

    if "" in sys.path:
        sys.path.remove("")
        sys.path.append("")


_search_the_notebooks_folder_last()
del _search_the_notebooks_folder_last

"""Startup code of each kernel that `gradlab lab` starts, run as its PYTHONSTARTUP; it leaves no names behind.

It moves the notebook's folder to the end of the search path, so a file there never shadows an installed module.

Once gradlab is imported, a check cell that lacks a name says which cells to run. In a new kernel, no cell has imported
gradlab yet, so the first missing name imports it.
"""


def _explain_what_is_missing():
    try:
        shell = get_ipython()
    except NameError:  # plain Python in a terminal
        return

    def explain(shell, kind, error, trace, tb_offset=None):
        try:
            from gradlab.checks.check import explain_missing
        except ImportError:
            shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
        else:
            explain_missing(shell, kind, error, trace, tb_offset=tb_offset)

    shell.set_custom_exc((NameError,), explain)


def _search_the_notebooks_folder_last():
    import sys

    if "" in sys.path:
        sys.path.remove("")
        sys.path.append("")


_explain_what_is_missing()
_search_the_notebooks_folder_last()
del _explain_what_is_missing, _search_the_notebooks_folder_last

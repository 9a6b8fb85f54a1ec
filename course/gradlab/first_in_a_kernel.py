"""What each kernel runs first that `gradlab lab` has started, as its PYTHONSTARTUP; it leaves no name behind.

A file beside a notebook takes the place of no installed module: that folder is searched last.

Once gradlab is imported, a check that misses a name says which cells to run. In a new kernel no cell has imported it
yet: the first missing name does.
"""


def _explain_what_is_missing():
    try:
        shell = get_ipython()
    except NameError:  # Python in a terminal
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

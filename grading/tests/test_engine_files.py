"""The released stage of the engine is what a submission's cells import, whatever was handed in beside it."""

from autograder.steps.files import beside_notebook


def test_a_released_module_has_no_other_form_beside_it():
    names = [
        "engine_11.py",
        "engine_11/__init__.py",
        "engine_11.cpython-311-x86_64-linux-gnu.so",
        "engine_11.pyc",
        "notes.txt",
        "data/engine_11.txt",
        "chapter.ipynb",
    ]
    beside = beside_notebook({name: name.encode() for name in names})
    assert sorted(beside) == ["data/engine_11.txt", "engine_11.py", "notes.txt"]

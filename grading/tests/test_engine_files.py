"""A submission's cells import the released stage of the engine, even if other versions were submitted."""

from autograder.steps.files import beside_notebook


def test_a_released_module_has_no_package_or_compiled_file_beside_it():
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

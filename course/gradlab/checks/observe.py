"""Run a scenario on one case in a known state, and record what can be observed."""

import builtins
import contextlib
import difflib
import inspect
import linecache
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from .. import notebook
from .encoding import TooLarge, decode, encode, text_within, type_name
from .innermost import innermost
from .known_state import known_state
from .members import own_members
from .observation import MAX_LINE, Dict, Error, Observation, parts, tensors, without_graph

Scenario = Callable[[Callable, dict], Any]


def call(answer: Callable, case: dict) -> Any:
    """Call the answer with the case's values by name: the default scenario."""
    return answer(**case)


def observe(answer: Callable, scenario: Scenario, case: Dict, autograd: bool = True, torch: bool = True) -> Observation:
    """Run `scenario(answer, …)` on fresh values of the encoded `case`.

    Values that a generator scenario yields are copied immediately. With `autograd=False`, torch's autograd raises
    ShortcutError inside the answer and in any later operation on its results; only the scenario may record. With
    `torch=False`, any use of torch raises TorchError. KeyboardInterrupt propagates.
    """
    values: list = []
    error = None
    names = getattr(scenario, "__globals__", {})  # the check's own copy; see as_released
    before = dict(names)
    if not autograd:
        from .shortcuts import blocked, without_autograd  # imports torch
    if not torch:
        from .without_torch import refusing_torch, without_torch  # imports torch
    with known_state() as left_changed, contextlib.nullcontext() if autograd else blocked(recording=True):
        inputs = decode(case)
        try:
            with contextlib.nullcontext() if torch else without_torch():
                guarded = answer if autograd else without_autograd(answer)
                outcome = scenario(guarded if torch else refusing_torch(guarded), inputs)
                for value in outcome if inspect.isgeneratorfunction(scenario) else [outcome]:
                    values.append(encode(value))
        except (Exception, SystemExit) as raised:
            cause = raised.__cause__ if inspect.isgeneratorfunction(scenario) else None  # Python wraps StopIteration
            error = _describe(cause if isinstance(cause, StopIteration) else raised, answer, scenario)
        left = left_changed()
        if any(names.get(name) is not value for name, value in before.items()):
            left.append("name_changed")
        mutated, marked = _changed(inputs, case)
        return Observation(values, error, mutated, left + marked)


def _changed(inputs: dict, case: Dict) -> tuple[list[str], list[str]]:
    """Return the names of inputs whose values differ from the case, and any other changes to inputs, as codes.

    The .grad of an input that requires grad is ignored: the scenario that made it a leaf observes its .grad itself.
    """
    try:
        now = parts(encode(inputs))
    except TooLarge:
        return sorted(inputs), []
    mutated = [name for name, value in case.items.items() if without_graph(now.get(name)) != without_graph(value)]
    tracked = [name for name in now if any(leaf.requires_grad for leaf in tensors(now[name]))]
    filled = [name for name in now if name not in tracked and _filled(inputs[name])]
    return mutated, [f"requires_grad:{name}" for name in tracked] + [f"has_grad:{name}" for name in filled]


def _filled(value: Any) -> bool:
    """Return whether a tensor in an input has a .grad."""
    if isinstance(value, dict | list | tuple):
        return any(_filled(part) for part in (value.values() if isinstance(value, dict) else value))
    torch = sys.modules.get("torch")  # without it, no value is a tensor
    return torch is not None and type(value) is torch.Tensor and value.is_leaf and value.grad is not None


def _describe(raised: BaseException, answer: Callable, scenario: Scenario) -> Error:
    try:
        message = str(raised)
    except Exception as second:
        message = f"(its message cannot be read: {type_name(type(second))})"
    name = _unsolved(raised, answer)
    line, at = (0, name) if name else _line_of(raised, answer, scenario)
    return Error(type_name(type(raised)), text_within(message), text_within(at), _meant(raised), line)


def _meant(raised: BaseException) -> str:
    """Return the name closest to the one that an AttributeError or NameError misses, or "" if none is close."""
    if not isinstance(raised, AttributeError | NameError):
        return ""
    names: list[str] = []
    with contextlib.suppress(Exception):  # the object may have any `__dir__`
        if isinstance(raised, AttributeError):
            names = dir(raised.obj)
        elif frame := innermost(raised):
            names = [*frame.f_locals, *frame.f_globals, *vars(builtins)]
        return text_within("".join(difflib.get_close_matches(str(raised.name or ""), names, 1, 0.75)))
    return ""


def _unsolved(raised: BaseException, answer: Callable) -> str:
    """Return the name of the learner's function, other than the answer, that raised NotImplementedError, or ""."""
    frame = innermost(raised) if isinstance(raised, NotImplementedError) else None
    if frame is None or frame.f_code in _codes(answer):
        return ""
    return frame.f_code.co_name if frame.f_globals is getattr(answer, "__globals__", None) else ""


def _line_of(raised: BaseException, answer: Callable, scenario: Scenario) -> tuple[int, str]:
    """Return the last line of the learner's cells in the error's traceback, its number first; (0, "") if there is none.

    It is a line in a file that contains the answer; in the scenario's file, only a line that ran inside the answer.
    """
    codes = [code for code in _codes(answer) if Path(code.co_filename).parent != notebook.FOLDER]  # not the engine's
    files, here = {code.co_filename for code in codes}, getattr(scenario, "__code__", call.__code__).co_filename
    line, inside = (0, ""), False
    for frame, number in traceback.walk_tb(raised.__traceback__):
        code = frame.f_code
        inside = inside or code in codes
        if code.co_filename in files and (inside or code.co_filename != here):
            text = linecache.getline(code.co_filename, number or 0).strip()  # signals can arrive anywhere
            line = (min(number or 0, MAX_LINE), text) if text else (0, "")
    return line


def _codes(answer: Callable) -> list[CodeType]:
    """Return the code of a function and of the functions in its closure; for a class, of its methods and properties."""
    functions: list = [answer]
    if isinstance(answer, type):
        members = own_members(answer).values()
        functions = [m.__func__ if isinstance(m, classmethod | staticmethod) else m for m in members]
        functions += [part for m in members if isinstance(m, property) for part in (m.fget, m.fset, m.fdel)]
        functions = [function for function in functions if isinstance(function, FunctionType)]
    functions = [inspect.unwrap(function) for function in functions]
    functions += [held for function in functions for held in _held(function)]
    codes = [getattr(function, "__code__", None) for function in functions]
    return [inner for code in codes if isinstance(code, CodeType) for inner in _with_inner(code)]


def _held(function: Callable) -> list[FunctionType]:
    """Return the functions in a function's closure, also in a dict or class there: an operation's gradient formulas."""
    held: list = []
    for cell in getattr(function, "__closure__", None) or ():
        with contextlib.suppress(ValueError):  # the closure's cell is still empty
            inside = cell.cell_contents
            parts = [*vars(inside).values()] if isinstance(inside, type) else [inside]
            held += [value for part in parts for value in (part.values() if isinstance(part, dict) else [part])]
    return [value for value in held if isinstance(value, FunctionType)]


def _with_inner(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and those defined inside it: an inner function, such as a hook, may run much later."""
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _with_inner(const)

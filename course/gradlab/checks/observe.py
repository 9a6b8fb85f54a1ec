"""The one observer: run a scenario on one case in a known state, and write down what could be seen."""

import inspect
import linecache
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from .known_state import known_state
from .observation import MAX_TEXT, TooLarge, decode, encode, type_name, without_graph
from .shortcuts import own_members, without_autograd

Scenario = Callable[[Callable, dict], Any]


def call(answer: Callable, case: dict) -> Any:
    """The default scenario: one call with the case's values by name, and what it returns."""
    return answer(**case)


def observe(answer: Callable, scenario: Scenario, case: dict, autograd: bool = True) -> dict:
    """Run `scenario(answer, …)` on fresh values of the encoded `case`.

    Returns plain data: "values", one for what the scenario returned, or one for each value that a generator scenario
    yielded, copied at once; "error", the exact type and the message, or None; "mutated", the names of the case's values
    that are no longer what they were. With `autograd=False` torch's autograd raises ShortcutError inside the answer.
    KeyboardInterrupt passes through.
    """
    values: list = []
    error = None
    with known_state():
        inputs = decode(case)
        try:
            guarded = answer if autograd else without_autograd(answer)
            outcome = scenario(guarded, inputs)
            if inspect.isgeneratorfunction(scenario):
                for value in outcome:
                    values.append(encode(value))
            else:
                values.append(encode(outcome))
        except (Exception, SystemExit) as raised:
            error = _describe(raised, answer)
        return {"values": values, "error": error, "mutated": _mutated(inputs, case)}


def _mutated(inputs: dict, case: dict) -> list[str]:
    try:
        now = encode(inputs)["dict"]
    except TooLarge:
        return sorted(inputs)
    before = without_graph(case["dict"])
    return [name for name, value in before.items() if without_graph(now.get(name)) != value]


def _describe(raised: BaseException, answer: Callable) -> dict:
    try:
        message = str(raised)
    except Exception as second:
        message = f"(its message cannot be read: {type_name(type(second))})"
    return {"type": type_name(type(raised)), "message": message[:MAX_TEXT], "at": _line_of(raised, answer)}


def _line_of(raised: BaseException, answer: Callable) -> str:
    """The last line of the learner's own cells that the error passed through, or ""."""
    codes = _codes(answer)
    files = {code.co_filename for code in codes}
    trace, line, inside = raised.__traceback__, "", False
    while trace is not None:
        code = trace.tb_frame.f_code
        inside = inside or code in codes
        if inside and code.co_filename in files:
            text = linecache.getline(code.co_filename, trace.tb_lineno).strip()
            line = f"line {trace.tb_lineno}: {text}"[:MAX_TEXT] if text else ""
        trace = trace.tb_next
    return line


def _codes(answer: Callable) -> list[CodeType]:
    """The code of a function; of a class, that of its methods and properties."""
    functions: list = [answer]
    if isinstance(answer, type):
        members = own_members(answer).values()
        functions = [m.__func__ if isinstance(m, classmethod | staticmethod) else m for m in members]
        functions += [part for m in members if isinstance(m, property) for part in (m.fget, m.fset, m.fdel)]
        functions = [function for function in functions if isinstance(function, FunctionType)]
    codes = [getattr(inspect.unwrap(function), "__code__", None) for function in functions]
    return [code for code in codes if isinstance(code, CodeType)]

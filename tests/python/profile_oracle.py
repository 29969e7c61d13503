"""Runs programs and writes down every call of their own code, by a profile function in Python.

    python profile_oracle.py FOLDER [--c-calls]

With --c-calls also the calls of C functions that their code makes.

Prints {program: {thread: [[name, depth], ...]}} as JSON, calls in the order in which they begin."""

import json
import os
import sys
import threading


def is_defined_by(kind, function):
    """Bound methods are equal when object and implementation are the same."""
    entry, bound = vars(kind).get(function.__name__), function.__self__
    if function.__name__ == "__new__":
        return kind is bound
    for arguments in ((bound, type(bound)), (None, bound)):
        try:
            if entry.__get__(*arguments) == function:
                return True
        except (AttributeError, TypeError):
            pass
    return False


def name_of_c_function(function):
    """Of a method: by the class that defines it."""
    if function.__module__ is not None:
        return f"{function.__module__}.{function.__qualname__}"
    bound = function.__self__
    if bound is None:  # a static method; all there are here are of the language
        return f"builtins.{function.__qualname__}"
    kinds = [*(bound.__mro__ if isinstance(bound, type) else ()), *type(bound).__mro__]
    defining = [kind for kind in kinds if is_defined_by(kind, function)]
    return f"{defining[0].__module__}.{defining[0].__qualname__}.{function.__name__}"


class Oracle:
    """Hears of calls on every thread."""

    def __init__(self, file, c_calls):
        self.file = file
        self.c_calls = c_calls
        self.calls = {}
        self.stacks = {}

    def __call__(self, frame, event, argument):
        if frame.f_code.co_filename != self.file:
            return
        thread = threading._active.get(threading.get_ident())
        name = thread.name if thread is not None else "?"
        stack = self.stacks.setdefault(name, [])
        if event == "call":
            code = frame.f_code
            qualified = getattr(code, "co_qualname", code.co_name)
            full = f"{frame.f_globals.get('__name__', '<unknown>')}.{qualified}"
            self.calls.setdefault(name, []).append([full, len(stack)])
            stack.append(frame)
        elif event == "return":
            while stack and stack.pop() is not frame:
                pass
        elif event == "c_call" and self.c_calls:
            self.calls.setdefault(name, []).append([name_of_c_function(argument), len(stack)])
            stack.append(argument.__name__)
        elif event in ("c_return", "c_exception") and self.c_calls:
            assert stack.pop() == argument.__name__


def main(folder, *options):
    found = {}
    for entry in sorted(os.listdir(folder)):
        path = os.path.join(folder, entry)
        if not entry.endswith(".py"):
            continue
        with open(path) as file:
            code = compile(file.read(), path, "exec")
        space = {"__name__": "__main__", "__file__": path, "__builtins__": __builtins__}
        oracle = Oracle(path, "--c-calls" in options)
        threading.setprofile(oracle)
        sys.setprofile(oracle)
        try:
            exec(code, space)
        except SystemExit:
            pass
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
        space.clear()
        found[entry] = oracle.calls
    json.dump(found, sys.stdout)


main(*sys.argv[1:])

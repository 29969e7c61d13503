"""Runs programs and writes down every call of their own code, by a profile function in Python.

    python profile_oracle.py FOLDER

Prints {program: {thread: [[name, depth], ...]}} as JSON, calls in the order in which they begin."""

import json
import os
import sys
import threading


class Oracle:
    """Hears of calls on every thread."""

    def __init__(self, file):
        self.file = file
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


def main(folder):
    found = {}
    for entry in sorted(os.listdir(folder)):
        path = os.path.join(folder, entry)
        if not entry.endswith(".py"):
            continue
        with open(path) as file:
            code = compile(file.read(), path, "exec")
        space = {"__name__": "__main__", "__file__": path, "__builtins__": __builtins__}
        oracle = Oracle(path)
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


main(sys.argv[1])

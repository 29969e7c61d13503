# SPDX-License-Identifier: MIT-0
"""Scope Profiler where it is installed, nothing where it is not.

Copy this file into a library and import from it instead of from `scope_profiler`:

    from ._scope_profiler_optional import profile, region, register_opt_in_tag

    register_opt_in_tag("mylib")                # off unless the program asks for it

    @profile(tags=["mylib"])
    def assemble(mesh):
        with region("mylib: elements", tags=["mylib"]):
            ...

With the package present the three names are its own. Without it `region` gives a context manager
that does nothing, `profile` gives the function back unchanged. The library needs no dependency, and
its users need not know. MIT No Attribution: keep or drop this text as you like.
"""

try:
    from scope_profiler import profile, region, register_opt_in_tag

    HAS_SCOPE_PROFILER = True
except ImportError:
    HAS_SCOPE_PROFILER = False

    class _Region:
        """A region of nothing; one object serves every name, thread and nesting."""

        __slots__ = ()
        num_calls = 0

        def __enter__(self):
            return self

        def __exit__(self, exc_type, exc_value, traceback):
            return None

        def wrap(self, function):
            return function

    _region = _Region()

    def region(region_name, functions=None, tags=None):
        return _region

    def profile(
        region_name=None, recursive=None, metadata=None, record_outcome=False, tags=None
    ):
        if region_name is None or isinstance(region_name, str):
            return lambda function: function
        return region_name

    def register_opt_in_tag(*tags):
        return None


__all__ = ["HAS_SCOPE_PROFILER", "profile", "region", "register_opt_in_tag"]

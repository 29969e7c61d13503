"""One callable of every kind, decorated. Imported afresh by the tests that count its calls."""

import functools

import scope_profiler as sp


@sp.profile("another name")
def module_level(x):
    return x * 2


class Shape:
    @sp.profile("method")
    def method(self, x):
        return x + 1

    @sp.profile("outer class")
    @classmethod
    def outer_class(cls, x):
        return cls, x

    @classmethod
    @sp.profile("inner class")
    def inner_class(cls, x):
        return cls, x

    @sp.profile("outer static")
    @staticmethod
    def outer_static(x):
        return x

    @staticmethod
    @sp.profile("inner static")
    def inner_static(x):
        return x

    @sp.profile("outer property")
    @property
    def outer_property(self):
        """Seven."""
        return 7

    @property
    @sp.profile("inner property")
    def inner_property(self):
        return 8

    @sp.profile("cached")
    @functools.cached_property
    def cached(self):
        return 9

    def _add(self, x, y):
        return x + y

    add_two = sp.profile("partial method")(functools.partialmethod(_add, 2))
    length = sp.profile("builtin")(len)
    binary = sp.profile("partial")(functools.partial(int, base=2))

    def __call__(self, x):
        return 10 * x


def use_everything():
    shape = Shape()
    assert module_level(4) == 8
    assert shape.method(1) == 2 == Shape.method(shape, 1)
    assert shape.outer_class(1) == Shape.outer_class(1) == (Shape, 1)
    assert shape.inner_class(1) == Shape.inner_class(1) == (Shape, 1)
    assert shape.outer_static(3) == Shape.outer_static(3) == 3
    assert shape.inner_static(3) == Shape.inner_static(3) == 3
    assert (shape.outer_property, shape.inner_property, shape.cached) == (7, 8, 9)
    assert Shape.outer_property.__doc__ == "Seven."
    assert shape.add_two(3) == 5
    assert shape.length([1, 2]) == 2
    assert Shape.binary("101") == 5
    assert sp.profile("callable object")(shape)(2) == 20
    assert sp.profile("lambda")(lambda x: x - 1)(3) == 2


EXPECTED = {
    "another name": 1, "method": 2, "outer class": 2, "inner class": 2, "outer static": 2,
    "inner static": 2, "outer property": 1, "inner property": 1, "cached": 1, "builtin": 1,
    "partial method": 1, "partial": 1, "callable object": 1, "lambda": 1,
}  # fmt: skip

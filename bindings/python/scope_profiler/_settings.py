"""The settings of a run, as the table of the recorder has them.

`SETTINGS` is what `setup()` accepts, what a TOML file may hold, what :class:`ProfilingOptions` has as
fields and what the documentation lists. Here values of Python become values of the table's kinds;
what is out of range is found by the recorder, for every language alike. Imported by every `setup`, so
it imports next to nothing.
"""

from __future__ import annotations

from ._recorder import check_settings, settings, unknown_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any


def _wrong(name: str, wanted: str, value: object) -> TypeError:
    return TypeError(f"Profiling setting '{name}' must be {wanted}, got {value!r}")


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _wrong(name, "a string", value)
    return str.__str__(value)


def _path(name: str, value: Any) -> str:
    import os

    try:
        return os.fsdecode(os.fspath(value))
    except TypeError:
        raise _wrong(name, "a path", value) from None


def _flag(name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    # numpy.bool_ of whatever version; 0 and 1 as in shell scripts and TOML written by hand.
    if type(value).__name__ in ("bool_", "bool") or (isinstance(value, int) and value in (0, 1)):
        return bool(value)
    raise _wrong(name, "True or False", value)


def _integer(name: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        raise ValueError(f"{name} must be an integer, got {value!r}")
    return int(value.__index__())


def _size(name: str, value: Any) -> str:
    """A number of bytes, or a text with a unit that the recorder reads."""
    return _text(name, value) if isinstance(value, str) else str(_integer(name, value))


def _number(name: str, value: Any) -> float:
    if isinstance(value, (bool, str, bytes)):
        raise ValueError(f"{name} must be a number, got {value!r}")
    try:
        return float(value)
    except TypeError:
        raise ValueError(f"{name} must be a number, got {value!r}") from None


def _choice(name: str, value: Any) -> str:
    return _text(name, value if isinstance(value, str) else str(value))


def strings(name: str, value: Any) -> tuple[str, ...]:
    """The strings of an iterable; one string is one of them."""
    if isinstance(value, str):
        return (str.__str__(value),)
    try:
        items = tuple(value)
    except TypeError:
        raise _wrong(name, "an iterable of strings", value) from None
    if not all(isinstance(item, str) for item in items):
        raise _wrong(name, "an iterable of strings", value)
    return tuple(map(str.__str__, items))


def _anything(name: str, value: Any) -> Any:
    return value


_BY_KIND = {
    "flag": _flag, "integer": _integer, "text": _text, "path": _path, "choice": _choice,
    "size": _size, "number": _number, "filter": _text, "events": strings, "tags": strings, "object": _anything,
}  # fmt: skip


class Setting:
    """One row of the table: a setting under its flat name.

    Attributes:
        name: Flat name, as keyword of `setup`.
        kind: What it takes: flag, integer, size, number, text, path, choice, filter, events, tags or object.
        type: Type as shown to people.
        default: Value that holds when nobody gives one.
        choices: What it may be, where that is a list.
        group: Option group (and TOML sub-table) that also has it, None without one.
        field: Its name there.
        help: One sentence.
    """

    __slots__ = ("name", "kind", "type", "default", "choices", "group", "field", "help")

    def __init__(self, *row: Any) -> None:
        for attribute, value in zip(self.__slots__, row):
            setattr(self, attribute, value)

    def convert(self, value: Any) -> Any:
        """The value as one of the setting's kind.

        Raises:
            TypeError, ValueError: It is of another kind.
        """
        return _BY_KIND[self.kind](self.name, value)

    if TYPE_CHECKING:
        name: str
        kind: str
        type: str
        default: Any
        choices: tuple[str, ...]
        group: str | None
        field: str | None
        help: str


SETTINGS: tuple[Setting, ...] = tuple(Setting(*row) for row in settings())

BY_NAME: dict[str, Setting] = {setting.name: setting for setting in SETTINGS}

#: Group name -> field of the group -> flat name.
GROUPS: dict[str, dict[str, str]] = {}
for _setting in SETTINGS:
    if _setting.group is not None and _setting.field is not None:
        GROUPS.setdefault(_setting.group, {})[_setting.field] = _setting.name


def unknown(names: Iterable[str], group: str | None = None) -> str:
    """Text of the error about names that are no settings, each with its closest relative."""
    return unknown_settings(names, group)


def set_twice(name: str, group: str) -> str:
    """Text of the error about a setting given both directly and in its group."""
    return (
        f"{name!r} is set both directly and on the {group!r} option group; set it in one place"
    )


def flatten_groups(values: Mapping[str, Any]) -> dict[str, Any]:
    """Flat settings of a mapping that may hold option groups (objects with `to_kwargs`)."""
    flat = {name: value for name, value in values.items() if name not in GROUPS}
    for group, fields in GROUPS.items():
        options = values.get(group)
        if options is None:
            continue
        if not hasattr(options, "to_kwargs"):
            raise TypeError(f"{group!r} must be an option group, got {options!r}")
        for name, value in options.to_kwargs().items():
            if flat.get(name) is not None:
                raise ValueError(set_twice(name, group))
            flat[name] = value
    return flat


def check_names(values: Mapping[str, Any]) -> None:
    """Raises TypeError for keywords that are neither settings nor option groups."""
    strangers = [name for name in values if name not in BY_NAME and name not in GROUPS]
    if strangers:
        raise TypeError(unknown(strangers))


def resolve(values: Mapping[str, Any]) -> dict[str, Any]:
    """Every setting with its checked value; None counts as not given."""
    check_names(values)
    flat = flatten_groups(values)
    return check_settings(
        {
            setting.name: setting.convert(flat[setting.name])
            for setting in SETTINGS
            if flat.get(setting.name) is not None
        }
    )

"""Calls of mpi4py as regions: communicators and requests that record what goes through them.

They are for programs that were started without the library which stands before MPI itself; there, nothing
here is needed.
"""

from __future__ import annotations

import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NamedTuple
else:
    from collections import namedtuple

__all__ = [
    "MPIRegionMetadata", "ProfiledMPIComm", "ProfiledMPIRequest", "format_mpi_region", "message_nbytes",
    "parse_mpi_region", "profile_mpi4py", "profile_mpi_comm",
]  # fmt: skip

UNKNOWN = -1

if TYPE_CHECKING:

    class MPIRegionMetadata(NamedTuple):
        """What the name of a region of MPI says; -1 for what is unknown or does not apply."""

        operation: str
        kind: str
        bytes: int
        peer: int
        root: int
        tag: int
        communicator: int
        request: int | None = None

else:
    MPIRegionMetadata = namedtuple(
        "MPIRegionMetadata", "operation kind bytes peer root tag communicator request", defaults=(None,)
    )
    MPIRegionMetadata.__doc__ = (
        "What the name of a region of MPI says; -1 for what is unknown or does not apply."
    )

_NAME = re.compile(
    r"mpi:(?P<operation>\w+) kind=(?P<kind>point-to-point|collective|wait) bytes=(?P<bytes>-?\d+)"
    r" peer=(?P<peer>-?\d+) root=(?P<root>-?\d+) tag=(?P<tag>-?\d+) comm=(?P<communicator>-?\d+)"
    r"(?: request=(?P<request>-?\d+))?"
)


def format_mpi_region(
    operation: str,
    kind: str,
    bytes: int = UNKNOWN,
    peer: int = UNKNOWN,
    root: int = UNKNOWN,
    tag: int = UNKNOWN,
    communicator: int = UNKNOWN,
    request: int | None = None,
) -> str:
    """Returns the name of a region of MPI.

    Args:
        operation: Such as ``isend``.
        kind: ``point-to-point``, ``collective`` or ``wait``.
        bytes: Of the message.
        peer: Rank of the other side in the communicator.
        root: Rank of the root of a collective.
        tag: Of the message.
        communicator: Its Fortran handle.
        request: Which request, None for none.
    """
    name = f"mpi:{operation} kind={kind} bytes={bytes} peer={peer} root={root} tag={tag} comm={communicator}"
    return name if request is None else f"{name} request={request}"


def parse_mpi_region(name: str) -> MPIRegionMetadata | None:
    """Returns what such a name says, None for the name of another region."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    numbers = {
        key: None if value is None else int(value)
        for key, value in match.groupdict().items()
        if key not in ("operation", "kind")
    }
    return MPIRegionMetadata(match["operation"], match["kind"], **numbers)  # type: ignore[arg-type]


def _buffer_nbytes(value: Any) -> int:
    try:
        with memoryview(value) as view:
            return view.nbytes
    except TypeError:
        return UNKNOWN


def message_nbytes(obj: Any) -> int:
    """Returns the bytes of a message: exactly for a buffer, also as ``[buffer, count, type]``; -1 for an
    object that would be pickled."""
    if isinstance(obj, (list, tuple)) and obj and _buffer_nbytes(obj[0]) != UNKNOWN:
        count = next((part for part in obj[1:] if isinstance(part, int)), None)
        size = getattr(obj[-1], "Get_size", None)
        if count is not None and size is not None:
            return count * int(size())
        return _buffer_nbytes(obj[0])
    return _buffer_nbytes(obj)


def _tags(about: MPIRegionMetadata) -> tuple[str, ...]:
    said = ["mpi", f"mpi.kind:{about.kind}"]
    said += [
        f"mpi.{name}:{getattr(about, name)}"
        for name in ("operation", "bytes", "peer", "root", "tag", "communicator")
    ]
    if about.request is not None:
        said.append(f"mpi.request:{about.request}")
    return tuple(said)


def _record(about: MPIRegionMetadata, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    from .profile_manager import ProfileManager

    with ProfileManager.region(format_mpi_region(*about), tags=_tags(about)):
        return function(*args, **kwargs)


def _is_recording() -> bool:
    from .profile_manager import ProfileManager

    return ProfileManager.is_active()


# ---- communicators ---------------------------------------------------------------------------

#: Operation -> (kind, parameters in mpi4py's order, the one that is the message).
_OPERATIONS: dict[str, tuple[str, tuple[str, ...], str | None]] = {
    "send": ("point-to-point", ("message", "dest", "tag"), "message"),
    "isend": ("point-to-point", ("message", "dest", "tag"), "message"),
    "recv": ("point-to-point", ("message", "source", "tag"), "message"),
    "irecv": ("point-to-point", ("message", "source", "tag"), "message"),
    "barrier": ("collective", (), None),
    "bcast": ("collective", ("message", "root"), "message"),
    "reduce": ("collective", ("message", "op", "root"), "message"),
    "allreduce": ("collective", ("message", "op"), "message"),
}
#: The same for operations on buffers where the parameters differ.
_ON_BUFFERS = {
    "reduce": ("collective", ("message", "recvbuf", "op", "root"), "message"),
    "allreduce": ("collective", ("message", "recvbuf", "op"), "message"),
}
_MESSAGE_NAMES = ("obj", "sendobj", "buf", "sendbuf")
_MAKERS = re.compile(r"Clone|Create\w*|Dup\w*|Idup\w*|Merge|Split\w*")


def _rank(value: Any) -> int:
    return value if isinstance(value, int) and value >= 0 else UNKNOWN


def _describe(operation: str, is_on_buffers: bool, comm: Any, args: Any, kwargs: Any) -> MPIRegionMetadata:
    kind, parameters, message = _OPERATIONS[operation]
    if is_on_buffers:
        kind, parameters, message = _ON_BUFFERS.get(operation, (kind, parameters, message))
    given = {**dict(zip(parameters, args)), **kwargs}
    for name in _MESSAGE_NAMES:
        if name in kwargs:
            given["message"] = kwargs[name]
    is_message = is_on_buffers and message is not None
    is_rooted = "root" in parameters
    tag = given.get("tag", 0 if "dest" in parameters else UNKNOWN)
    return MPIRegionMetadata(
        operation,
        kind,
        0 if message is None else message_nbytes(given.get("message")) if is_message else UNKNOWN,
        _rank(given.get("dest", given.get("source", UNKNOWN))),
        _rank(given.get("root", 0)) if is_rooted else UNKNOWN,
        _rank(tag) if "tag" in parameters else UNKNOWN,
        _comm_id(comm),
    )


def _comm_id(comm: Any) -> int:
    try:
        return int(comm.py2f())
    except Exception:  # a library without Fortran
        return id(comm)


def _operation(method: str, real: Callable[..., Any]) -> Callable[..., Any]:
    operation = method.lower()
    is_on_buffers = method[0].isupper()
    has_request = operation in ("isend", "irecv")

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not _is_recording():
            return real(self, *args, **kwargs)
        about = _describe(operation, is_on_buffers, self, args, kwargs)
        result = _record(about, real, (self, *args), kwargs)
        return _proxy_request(result, about) if has_request else result

    call.__name__ = call.__qualname__ = method
    call.__doc__ = real.__doc__
    return call


def _maker(method: str, real: Callable[..., Any]) -> Callable[..., Any]:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = real(self, *args, **kwargs)
        if isinstance(made, tuple):  # Idup gives a request, too
            return tuple(_proxy_if_comm(part) for part in made)
        return _proxy_if_comm(made)

    call.__name__ = call.__qualname__ = method
    call.__doc__ = real.__doc__
    return call


class ProfiledMPIComm:
    """A communicator of mpi4py that records what goes through it.

    ``ProfiledMPIComm(comm)`` is one of the same class as `comm` and of this one, and the same communicator
    for MPI: it may be handed to whatever takes communicators.
    """

    _scope_profiler_real: Any

    def __new__(cls, comm: Any = None) -> Any:
        if cls is ProfiledMPIComm:
            return profile_mpi_comm(comm)
        return super().__new__(cls, comm)  # type: ignore[call-arg]


class ProfiledMPIRequest:
    """A request of mpi4py whose waits are recorded.

    ``ProfiledMPIRequest(request)`` is one of the same class as `request` and of this one.
    """

    _about: MPIRegionMetadata | None

    def __new__(cls, request: Any = None) -> Any:
        if cls is ProfiledMPIRequest:
            return _proxy_request(request, None)
        return super().__new__(cls, request)  # type: ignore[call-arg]


_classes: dict[type, type] = {}


def _class_over(base: type, mixin: type, members: dict[str, Any]) -> type:
    found = _classes.get(base)
    if found is None:
        names = {"__module__": __name__, "__doc__": mixin.__doc__}
        found = _classes[base] = type(mixin.__name__, (mixin, base), {**names, **members})
    return found


def _comm_class(base: type) -> type:
    members: dict[str, Any] = {}
    for operation in _OPERATIONS:
        for method in (operation, operation.capitalize()):
            real = getattr(base, method, None)
            if real is not None:
                members[method] = _operation(method, real)
    for method in dir(base):
        if _MAKERS.fullmatch(method) and not isinstance(base.__dict__.get(method), classmethod):
            real = getattr(base, method)
            if callable(real) and getattr(real, "__self__", None) is None:
                members[method] = _maker(method, real)
    return _class_over(base, ProfiledMPIComm, members)


def profile_mpi_comm(comm: Any) -> ProfiledMPIComm:
    """Returns a communicator that records what goes through it; itself, when it is one already."""
    if isinstance(comm, ProfiledMPIComm):
        return comm
    proxy: ProfiledMPIComm = _comm_class(type(comm))(comm)
    proxy._scope_profiler_real = comm
    return proxy


def _proxy_if_comm(value: Any) -> Any:
    from mpi4py import MPI

    is_new = isinstance(value, MPI.Comm) and not isinstance(value, ProfiledMPIComm)
    return profile_mpi_comm(value) if is_new and value != MPI.COMM_NULL else value


def real_communicator(comm: Any) -> Any:
    """Returns the communicator behind a proxy, any other as it is."""
    return getattr(comm, "_scope_profiler_real", comm)


# ---- requests --------------------------------------------------------------------------------


def _wait(method: str, real: Callable[..., Any]) -> Callable[..., Any]:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        about = self._about
        if about is None:
            about = MPIRegionMetadata("wait", "wait", *[UNKNOWN] * 5)
        if not _is_recording():
            return real(self, *args, **kwargs)
        about = about._replace(operation="wait", kind="wait", request=_request_id(self))
        return _record(about, real, (self, *args), kwargs)

    call.__name__ = call.__qualname__ = method
    call.__doc__ = real.__doc__
    return call


def _request_id(request: Any) -> int:
    try:
        return int(request.py2f())
    except Exception:  # a library without Fortran
        return id(request)


def _proxy_request(request: Any, about: MPIRegionMetadata | None) -> Any:
    if isinstance(request, ProfiledMPIRequest):
        return request
    base = type(request)
    members = {method: _wait(method, getattr(base, method)) for method in ("wait", "Wait")}
    proxy = _class_over(base, ProfiledMPIRequest, members)(request)
    proxy._about = about  # type: ignore[attr-defined]
    return proxy


# ---- the predefined communicators ------------------------------------------------------------

_PREDEFINED = ("COMM_WORLD", "COMM_SELF")
_replaced: dict[str, Any] = {}


class _Hook:
    """Puts the proxies in place once mpi4py.MPI was imported."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "mpi4py.MPI":
            return None
        from importlib.util import find_spec

        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        loader = spec.loader
        execute = loader.exec_module

        class Loader:
            def create_module(self, found: Any) -> Any:
                return loader.create_module(found)

            def exec_module(self, module: Any) -> None:
                execute(module)
                _replace(module)

        spec.loader = Loader()  # type: ignore[assignment]
        return spec


_hook: _Hook | None = None


def _replace(module: Any) -> None:
    for name in _PREDEFINED:
        comm = getattr(module, name)
        if not isinstance(comm, ProfiledMPIComm):
            _replaced[name] = comm
            setattr(module, name, profile_mpi_comm(comm))


def profile_mpi4py() -> None:
    """Replaces the predefined communicators of mpi4py by ones that record; once it is imported, if it is
    not yet. Variables that hold them already are not changed."""
    global _hook
    module = sys.modules.get("mpi4py.MPI")
    if module is not None:
        _replace(module)
    elif _hook is None or _hook not in sys.meta_path:
        _hook = _Hook()
        sys.meta_path.insert(0, _hook)  # type: ignore[arg-type]


def restore_mpi4py() -> None:
    """Puts the predefined communicators back."""
    module = sys.modules.get("mpi4py.MPI")
    for name, comm in _replaced.items():
        if module is not None:
            setattr(module, name, comm)
    _replaced.clear()
    if _hook is not None and _hook in sys.meta_path:
        sys.meta_path.remove(_hook)  # type: ignore[arg-type]

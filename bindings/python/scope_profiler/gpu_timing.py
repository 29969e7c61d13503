"""Where the events come from that time what a device does.

A back end is an object with ``record_event()``, which puts an event into the queue of the device and returns
it (None: not now), and ``elapsed_time_ns(start, end)``. It may have ``is_complete(event)``, which asks without
waiting and lets events be resolved while the program runs, ``record_again(event)``, which puts an event that
is no longer needed into the queue once more (False: not now), and ``synchronize()``, which
``gpu_sync_on_exit`` needs.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["CuPyCUDATimingBackend", "TorchCUDATimingBackend", "resolve_gpu_timing_backend"]

_NS_PER_MS = 1e6


class TorchCUDATimingBackend:
    """Events of PyTorch, on the current stream of the calling thread.

    Raises:
        ImportError: PyTorch is not installed.
        RuntimeError: PyTorch finds no device.
    """

    name = "torch"

    def __init__(self) -> None:
        try:
            import torch
        except ImportError as error:
            raise ImportError("torch is not installed", name="torch") from error
        if not torch.cuda.is_available():
            raise RuntimeError("torch finds no CUDA device")
        self._cuda = torch.cuda
        # Older releases cannot tell.
        self._is_capturing = getattr(torch.cuda, "is_current_stream_capturing", bool)

    def record_event(self) -> Any:
        """A new event in the queue; None while work is being captured into a graph."""
        if self._is_capturing():
            return None
        event = self._cuda.Event(enable_timing=True)
        event.record()
        return event

    def record_again(self, event: Any) -> bool:
        """Puts an event into the queue once more."""
        if self._is_capturing():
            return False
        event.record()
        return True

    def is_complete(self, event: Any) -> bool:
        """Whether the device has come to the event."""
        return bool(event.query())

    def elapsed_time_ns(self, start: Any, end: Any) -> int:
        """Time of the device between two events."""
        return round(start.elapsed_time(end) * _NS_PER_MS)

    def synchronize(self) -> None:
        """Waits for the device."""
        self._cuda.synchronize()


class CuPyCUDATimingBackend:
    """Events of CuPy, on the current stream of the calling thread.

    Raises:
        ImportError: CuPy is not installed.
        RuntimeError: CuPy finds no device.
    """

    name = "cupy"

    def __init__(self) -> None:
        try:
            import cupy
        except ImportError as error:
            raise ImportError("cupy is not installed", name="cupy") from error
        try:
            count = cupy.cuda.runtime.getDeviceCount()
        except Exception as error:
            raise RuntimeError(f"cupy finds no CUDA device: {error}") from error
        if count == 0:
            raise RuntimeError("cupy finds no CUDA device")
        self._cuda = cupy.cuda

    def _is_capturing(self) -> bool:
        ask = getattr(self._cuda.get_current_stream(), "is_capturing", None)
        return bool(ask()) if ask is not None else False

    def record_event(self) -> Any:
        """A new event in the queue; None while work is being captured into a graph."""
        if self._is_capturing():
            return None
        event = self._cuda.Event()
        event.record()
        return event

    def record_again(self, event: Any) -> bool:
        """Puts an event into the queue once more."""
        if self._is_capturing():
            return False
        event.record()
        return True

    def is_complete(self, event: Any) -> bool:
        """Whether the device has come to the event."""
        return bool(event.done)

    def elapsed_time_ns(self, start: Any, end: Any) -> int:
        """Time of the device between two events."""
        return round(self._cuda.get_elapsed_time(start, end) * _NS_PER_MS)

    def synchronize(self) -> None:
        """Waits for the device."""
        self._cuda.Device().synchronize()


#: Of the library, not of Python: they are opened by their name.
_NATIVE = ("cuda", "hip")

_BACKENDS: dict[str, Callable[[], Any]] = {
    "torch": TorchCUDATimingBackend,
    "pytorch": TorchCUDATimingBackend,
    "cupy": CuPyCUDATimingBackend,
}


def _first_that_works() -> Any:
    reasons = []
    for name in ("torch", "cupy"):
        try:
            return _BACKENDS[name]()
        except (ImportError, RuntimeError) as error:
            reasons.append(str(error))
    raise RuntimeError(
        f"no supported GPU backend: {'; '.join(reasons)}. Programs that use the CUDA driver or HIP "
        "themselves choose gpu_timing_backend='cuda' or 'hip'"
    )


def resolve_gpu_timing_backend(backend: Any = "auto") -> Any:
    """The back end of a name, or the object itself.

    Args:
        backend: ``"auto"`` or None for the first of torch and cupy that works, a name in any case, or an
            object with ``record_event`` and ``elapsed_time_ns``.

    Returns:
        A back end; for the native ones, ``"cuda"`` and ``"hip"``, their name.

    Raises:
        RuntimeError: No back end works here, or that one does not.
        ImportError: The module of that back end is not installed.
        ValueError: An unknown name.
        TypeError: An object that lacks a method.
    """
    if backend is None:
        backend = "auto"
    if not isinstance(backend, str):
        for method in ("record_event", "elapsed_time_ns"):
            if not callable(getattr(backend, method, None)):
                raise TypeError(
                    f"gpu_timing_backend must be a name or an object with record_event() and "
                    f"elapsed_time_ns(start, end); {backend!r} has no {method}()"
                )
        return backend
    name = backend.lower()
    if name == "auto":
        return _first_that_works()
    if name in _NATIVE:
        return name
    if name not in _BACKENDS:
        known = ", ".join(("auto", *_BACKENDS, *_NATIVE))
        raise ValueError(f"Unknown gpu_timing_backend {backend!r}: choose from {known}")
    return _BACKENDS[name]()


def open_instrument(backend: Any, sync_on_exit: bool) -> object:
    """The instrument of a configuration.

    Raises:
        TypeError: ``sync_on_exit`` with a back end that has no ``synchronize``.
    """
    from ._recorder import device_instrument

    resolved = resolve_gpu_timing_backend(backend)
    is_object = not isinstance(resolved, str)
    if sync_on_exit and is_object and not callable(getattr(resolved, "synchronize", None)):
        raise TypeError(
            f"gpu_sync_on_exit needs a GPU timing back end with synchronize(), and {resolved!r} has none"
        )
    return device_instrument(resolved, sync_on_exit)

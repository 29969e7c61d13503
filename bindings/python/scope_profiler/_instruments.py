"""What is measured at every call, opened for a configuration."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._configuration import ProfilingConfig


def _perf_events(config: ProfilingConfig) -> object:
    from ._recorder import open_instrument
    from .perf_events import PerfEventError

    try:
        return open_instrument(
            "perf", config.perf_events, config.counters_per_call, config.perf_events_kernel
        )
    except RuntimeError as error:
        raise PerfEventError(str(error)) from None


def open_instruments(config: ProfilingConfig) -> tuple[object, ...]:
    """Returns the instruments of the recorder, in the order in which they are read.

    Raises:
        PerfEventError: Events cannot be counted here; the text says what to do.
    """
    opened = []
    if config.track_cpu:
        from ._recorder import open_instrument

        opened.append(open_instrument("cpu", keeps_calls=config.counters_per_call))
    if config.perf_events:
        opened.append(_perf_events(config))
    return tuple(opened)

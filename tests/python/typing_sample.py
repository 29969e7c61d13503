"""A program as a type checker sees it; never run. Each line with a comment must be the only complaint."""

from typing import Any

import scope_profiler as sp
from scope_profiler import HDF5Options, ProfileManager, ProfilingOptions
from scope_profiler.profile_manager import ProfilingRun, RegionHandle
from scope_profiler.region_profiler import BaseProfileRegion
from scope_profiler.results import ProfilingResults


@sp.profile
def bare(x: int) -> str:
    return str(x)


@ProfileManager.profile("named", metadata=lambda n: {"n": n}, tags=["io"])
def named(n: int) -> float:
    return n / 2


@sp.session(output=None)
def program() -> None:
    pass


def use() -> None:
    text: str = bare(1)
    number: float = named(n=3)
    region: BaseProfileRegion = sp.region("r", tags=("a",))
    with region as entered, ProfileManager.region("s"):
        calls: int = entered.num_calls
    handle: RegionHandle = sp.define_region("d")
    with handle, ProfileManager.region_factory("f")(step=1), sp.metadata(a=1) as values:
        values["b"] = 2
    run: ProfilingRun = sp.setup(ProfilingOptions(label="x"), output="x.h5", track_threads=True)
    results: ProfilingResults | None = run.finalize(verbose=False)
    with sp.session(output=None, return_results=True) as session:
        kept: ProfilingResults | None = session.results
    with ProfileManager().sample_every(10) as step, step(3) as selected:
        flag: bool = selected
    five: int = sp.run(lambda: 5, label="five", region_tags=["io"])
    found: dict[str, Any] = {"label": "from elsewhere"}
    sp.setup(replace=True, hdf5=HDF5Options(compression="gzip"), **found)
    names: tuple[str, ...] = sp.recorded_regions()
    print(text, number, calls, results, kept, flag, five, names)


def misuse() -> None:
    bare("x")  # type: ignore[arg-type]
    sp.region(3)  # type: ignore[arg-type]
    ProfileManager.get_region("x").num_calls  # type: ignore[union-attr]
    sp.finalize(loud=True)  # type: ignore[call-arg]
    sp.setup(lable="x")  # type: ignore[call-arg]
    sp.setup(buffer_limit="x")  # type: ignore[arg-type]
    sp.session(track_threads=1.5)  # type: ignore[arg-type]

"""Figures of counters: bars of one figure, and the roofline."""

from __future__ import annotations

from ._plots import height_for, new_figure, plain, shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._plots import Output


def bars(output: Output, document: dict[str, Any], log_scale: bool) -> Any:
    """A group of bars a region, in it one a run."""
    rows, series = document["bars"], list(document["colors"])
    regions = list(dict.fromkeys(row["region"] for row in rows))
    values = {(row["series"], row["region"]): row["value"] for row in rows}
    figure, [axis] = new_figure(output, 9, height_for(len(regions) * (len(series) + 1)))
    height = 0.8 / len(series)
    for number, name in enumerate(series):
        drawn = [i for i, region in enumerate(regions) if (name, region) in values]
        axis.barh(
            [i - 0.4 + (number + 0.5) * height for i in drawn],
            [values[name, regions[i]] for i in drawn],
            height,
            color=document["colors"][name],
            label=plain(shorten(name, 40)),
        )
    axis.set_yticks(range(len(regions)), [plain(shorten(region, 40)) for region in regions])
    axis.invert_yaxis()
    if log_scale:
        axis.set_xscale("log")
    axis.set_xlabel(plain(document["metric"]))
    axis.grid(axis="x", alpha=0.3)
    if len(series) > 1:
        axis.legend(loc="best", fontsize=8)
    return figure


def roofline(output: Output, document: dict[str, Any]) -> Any:
    """Performance over arithmetic intensity, both logarithmic, under the roof."""
    figure, [axis] = new_figure(output, 8, 5.5)
    empirical = document["empirical_ceilings"]
    peaks = [
        f"{document['peak_flops_gflops']:g} GFLOP/s" + (" (seen)" if empirical["flops"] else ""),
        f"{document['peak_bandwidth_gbs']:g} GB/s" + (" (seen)" if empirical["bandwidth"] else ""),
    ]
    axis.plot(
        [point["arithmetic_intensity_flops_per_byte"] for point in document["roofline"]],
        [point["performance_gflops"] for point in document["roofline"]],
        color="0.3",
        linestyle="--" if any(empirical.values()) else "-",
        label=", ".join(peaks),
    )
    for region in document["colors"]:
        points = [point for point in document["points"] if point["region"] == region]
        axis.scatter(
            [point["arithmetic_intensity_flops_per_byte"] for point in points],
            [point["performance_gflops"] for point in points],
            color=document["colors"][region],
            label=plain(shorten(region, 40)),
            zorder=3,
        )
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("arithmetic intensity [FLOP/byte]")
    axis.set_ylabel("performance [GFLOP/s]")
    axis.grid(which="both", alpha=0.2)
    axis.legend(loc="best", fontsize=8)
    return figure

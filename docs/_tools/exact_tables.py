"""Tables for the page of exact ranks on a CPU: what was measured, beside what was aimed at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reproduction.tables import DASH, stored, table


def beside_the_product(filtered: str = "") -> str:
    """Times over that of the bare product, by model; `filtered` names another filter."""
    found = stored("pruned")
    models = _trained(found)
    one = found[models[0]]
    kinds = [kind for kind in found["goals"] if kind + filtered in one]
    rows = []
    for kind in kinds:
        ratios = [found[model][kind + filtered]["over the product"] for model in models]
        if filtered:
            rows.append([kind, *(f"{ratio:.3f}" for ratio in ratios)])
        else:
            goal = found["goals"][kind]
            rows.append([kind, f"{goal:g}", *(_against(ratio, goal) for ratio in ratios)])
    return table(["targets", *([] if filtered else ["goal"]), *models], rows)


def product_range(*kinds: str, field: str = "over the product", spec: str = ".2f") -> str:
    """The least and the largest of the trained models."""
    found = stored("pruned")
    values = [found[model][kind][field] for model in _trained(found) for kind in kinds]
    return _range(values, spec)


def network_range(design: str) -> str:
    """The least and the largest share of the time of all pairs, in the default order."""
    found = _measured(stored("up_to_k"))
    return _range([one["orders"][f"{design}, default"]["share of time"] for _, one in found], ".2f")


def beside_all_pairs() -> str:
    """Shares of the pairs scored and of the time of a network, by data set, K and order."""
    result = stored("up_to_k")
    rows = []
    for data, found in _measured(result):
        for name, one in found["orders"].items():
            design, order = name.split(", ")
            usual = order == "default"
            goal = result["goals"][design.removeprefix("exact:")]
            pairs, time = one["share of pairs"], one["share of time"]
            aim = f"{goal:g}" if usual else DASH
            rows.append([
                data, f"`{design}`", order, f"{one['at least']:.3f}", aim,
                *(_against(share, goal) if usual else f"{share:.3f}" for share in (pairs, time)),
                "yes" if one["same metrics to the last bit"] else "no",
            ])  # fmt: skip
    head = ["data", "design", "order", "least possible", "goal", "pairs scored", "time"]
    return table([*head, "same metrics"], rows)


def beside_the_least() -> str:
    """Sparse item–item models and popularity over what they cannot do without."""
    found = stored("ranking_sparse")
    rows = [
        [model, ratio, f"{goal:g}", _against(found[model][ratio], goal, ".2f")]
        for model, goals in found["goals"].items()
        for ratio, goal in goals.items()
    ]
    return table(["model", "ratio", "goal", "measured"], rows)


def sparse_seconds() -> str:
    """The seconds behind `beside_the_least`."""
    found = stored("ranking_sparse")
    rows = [
        [model, what, f"{seconds:.4f}"]
        for model in found["goals"]
        for what, seconds in found[model]["seconds"].items()
    ]
    return table(["model", "what", "seconds"], rows)


def _range(values: list[float], spec: str) -> str:
    least, most = format(min(values), spec), format(max(values), spec)
    return least if least == most else f"{least}–{most}"


def _against(value: float, goal: float, spec: str = ".3f") -> str:
    return format(value, spec) + (" (missed)" if value > goal else "")


def _trained(found: dict[str, Any]) -> list[str]:
    return [name for name, one in _measured(found) if "one target" in one]


def _measured(found: dict[str, Any]) -> Iterable[tuple[str, dict[str, Any]]]:
    return ((name, one) for name, one in found.items() if isinstance(one, dict) and name != "goals")


FUNCTIONS = {
    function.__name__: function
    for function in (
        beside_the_product, product_range, network_range, beside_all_pairs, beside_the_least,
        sparse_seconds,
    )
}  # fmt: skip

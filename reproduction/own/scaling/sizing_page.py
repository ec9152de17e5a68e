"""The page and the figure of the study sizing, from nothing but its JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reproduction.study import table


def page(content: dict[str, Any]) -> str:
    rates, assumed, gpu = content["rates"], content["assumed"], content["gpu"]
    users, n_items = content["n_users"], content["n_items"]
    n, levels, few = content["sample_size"], content["levels"], content["users_for_margin"]
    exact = content["costs"][0]
    items, network = 4 * n_items * content["d"], assumed["network_bytes_per_second"]
    hours = exact["core_hours"] * few / users
    gpu_seconds = 3600 * exact["gpu_hours"] * few / users
    storage, read = assumed["storage_bytes_per_second"], rates["parquet_bytes_per_user"]
    driver = 1000 * rates["driver_seconds"]
    share = assumed["object_store_share"]
    by_ray = "Ray" if rates["ray_seconds"] else "worker processes"
    return f"""# A billion users, a hundred million items

What it would take to rank one held-out item for each of {users:,} users among {n_items:,} items
with a factor model (d = {content["d"]}, float32): every item, samples of {n}, or adaptive samples
of {levels[0]} to {levels[-1]:,} items. Nothing of this size was run. Rates of one core were
measured on this machine, for the largest catalogue of the table at the end; the schedule was
simulated; the rest is multiplication.

{_cost_table(content)}

An adaptive sample takes {content["adaptive_depth"]:,.0f} items a user where recall@10 is
{assumed["recall_at_10"]} and P(rank ≤ r) = (r/N)^b. GPU-hours are those of
the count on one {gpu["device"]} ([study](gpu.md)): {gpu["exact_pairs"]:.2g} scores a second, all
users and items on the device; with scores stored and counted afterwards they would be
{exact["gpu_hours_stored"]:,.0f}. Adaptive ranks were timed with what is around the count only.

**All users are rarely needed.** Exact ranks of {few:,} users drawn at random give recall@10 to
±{100 * assumed["relative_margin"]:.0f} % of its value (95 %) for {hours:,.1f} core-hours, or
{gpu_seconds:,.0f} seconds of that GPU. Samples of {n} are cheap, but rank 1 among {n} stands for
{n_items // n:,} ranks, so that they tell nothing of recall@10 however many users there are.
`plan` weighs such designs for your own numbers.

## Where it would stop first

The number of workers beyond which each of these takes longer than all the ranking, so that more
workers do not help:

{_limit_table(content)}

- **Item factors** are {items / 1e9:,.1f} GB and must be on every node, once for all its workers. At
  {network / 1e9:.2f} GB/s (assumed) a node has them after {items / network:.0f} s. Ray gives its
  object store {100 * share:.0f} % of a node's memory unless told otherwise: that asks for a
  node of {items / share / 1e9:,.0f} GB, or for another setting.
- **Users' files** are read once, {read:.0f} bytes a user, at {storage / 1e9:.0f} GB/s (assumed) for
  all workers together.
- **The driver** spends {driver:.1f} ms on a shard: handed out by {by_ray}, its counts taken in and
  kept on disk.
- **The reduction** is nothing for samples, whose shards have the same few outcomes. Exact ranks are
  another matter: almost every user of a shard has a rank that no other has, so the driver holds
  {exact["held_bytes"] / 1e9:,.0f} GB before it adds, by halves, for
  {exact["adding_seconds"] / 60:,.0f} minutes. Its memory is the first limit of an exact run of all
  users, long before any number of workers.

## The schedule

Simulated: workers start after {assumed["worker_start_seconds"]:.0f} s and the item factors;
{100 * assumed["slow_share"]:.0f} % of them are {assumed["slow_factor"]:.0f} times slower; shards
vary by {100 * assumed["spread"]:.0f} %; a worker that is lost takes its shard with it, which is
noticed after {assumed["loss_noticed_seconds"]:.0f} s; no shard is done twice at once. Time over
the ideal, in which all workers are equally fast, there at once and never lost, by the length of a
shard:

{_schedule_tables(content)}

![Time over the ideal, by the length of a shard and the rate of losses](../images/sizing-shards.svg)

{_advice(content)}

## Rates

{_rate_table(content)}
"""


def _cost_table(content: dict[str, Any]) -> str:
    head = ["", *(f"{one['strategy']}" for one in content["costs"])]
    lines = {
        "scores": lambda c: f"{c['pairs']:.2g}",
        "core-hours": lambda c: f"{c['core_hours']:,.{1 if c['core_hours'] < 100 else 0}f}",
        "GPU-hours": lambda c: "–" if c["gpu_hours"] is None else f"{c['gpu_hours']:,.3g}",
        "users in a shard": lambda c: f"{c['shard']:,}",
        "workers": lambda c: f"{c['workers']:,}",
        "hours with them": lambda c: f"{c['hours']:,.2f}",
        "memory of a worker, GB": lambda c: f"{c['worker_bytes'] / 1e9:,.2f}",
        f"memory of a node with {content['assumed']['workers_per_node']}, GB": lambda c: (
            f"{c['node_bytes'] / 1e9:,.1f}"
        ),
        "users' factors and targets read, GB": lambda c: f"{c['users_bytes'] / 1e9:,.0f}",
        "item factors sent to nodes, GB": lambda c: f"{c['items_bytes'] / 1e9:,.0f}",
        "counts sent back, GB": lambda c: f"{c['counts_bytes'] / 1e9:,.3g}",
        "or rows, one a user, GB": lambda c: f"{c['rows_bytes'] / 1e9:,.3g}",
        "held by the driver before adding, GB": lambda c: f"{c['held_bytes'] / 1e9:,.3g}",
        "seconds to add": lambda c: (
            f"{c['adding_seconds']:,.2g}"
            if c["adding_seconds"] < 10
            else f"{c['adding_seconds']:,.0f}"
        ),
    }
    rows = [(label, *(show(one) for one in content["costs"])) for label, show in lines.items()]
    return table(head, rows)


def _limit_table(content: dict[str, Any]) -> str:
    names = list(content["costs"][0]["limits"])
    rows = []
    for one in content["costs"]:
        first = min(names, key=lambda name: one["limits"][name])
        cells = [f"{one['limits'][name]:,.0f}" for name in names]
        rows.append((one["strategy"], *cells, first))
    return table(["", *names, "first of these"], rows)


def _schedule_tables(content: dict[str, Any]) -> str:
    parts = []
    for name in dict.fromkeys(cell["strategy"] for cell in content["cells"]):
        cells = [cell for cell in content["cells"] if cell["strategy"] == name]
        lengths = sorted({cell["shard_seconds"] for cell in cells})
        rows = []
        for key in dict.fromkeys((cell["workers"], cell["lost_per_hour"]) for cell in cells):
            found = {
                cell["shard_seconds"]: f"{cell['over_ideal']:.2f}"
                for cell in cells
                if (cell["workers"], cell["lost_per_hour"]) == key
            }
            values = [found.get(length, "–") for length in lengths]
            rows.append((f"{key[0]:,}", f"{100 * key[1]:g} %", *values))
        head = ["workers", "lost an hour", *(f"{length:g} s" for length in lengths)]
        parts.append(f"### {name}\n\n{table(head, rows)}")
    return "\n\n".join(parts)


def _advice(content: dict[str, Any]) -> str:
    lines = [
        f"- {one['strategy']}, {one['workers']:,} workers: {one['shard']:,} users, "
        f"{one['shard_seconds']:g} s a shard, "
        f"{content['n_users'] / one['shard'] / one['workers']:,.0f} shards a worker"
        for one in content["costs"]
    ]
    text = "\n".join(lines)
    return f"""**Size of shards.** Short enough for every worker to get many, so that a slow or lost
one holds up little; long enough for the driver. The longest that stay within a twentieth of the
best at every rate of losses above, which the costs are told for:

{text}"""


def _rate_table(content: dict[str, Any]) -> str:
    rates = content["rates"]
    rows = [
        (f"{kind}, {int(n_items):,} items", f"{rate:.3g} scores a second")
        for kind in ("exact", "sampled", "adaptive")
        for n_items, rate in rates[f"{kind}_pairs"].items()
    ]
    rows += [
        ("reading factors and targets from Parquet", f"{rates['parquet_read'] / 1e9:.2f} GB/s"),
        ("handing a shard out and its counts in, worker processes",
         f"{1000 * rates['processes_seconds']:.2f} ms"),
        ("the same with Ray, by the clock of a busy machine",
         f"{1000 * rates['ray_seconds']:.2f} ms" if rates["ray_seconds"] else "–"),
        ("keeping a shard's counts on disk, by the same clock",
         f"{1000 * rates['keep_seconds']:.2f} ms"),
        ("memory of a worker's own", f"{rates['worker_megabytes']:.0f} MB"),
    ]  # fmt: skip
    for name, sample in rates["sample"].items():
        each = sample["add_seconds_per_outcome"]
        rows.append((
            f"{name}: adding a shard of 1,000 users; an outcome of many",
            f"{1e3 * sample['add_seconds']:.2f} ms; {1e9 * each:.0f} ns",
        ))  # fmt: skip
        rows.append((
            f"{name}: Parquet of {sample['outcomes']:,} outcomes; of a row",
            f"{sample['counts_bytes'] / 1000:,.1f} kB; {sample['row_bytes']:.1f} bytes",
        ))  # fmt: skip
    note = "CPU seconds of one core, medians of five, where nothing else is said."
    return f"{note}\n\n{table(['what', 'measured'], rows)}"


def figures(content: dict[str, Any], folder: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "fullrank"}
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 3, figsize=(9, 3), layout="constrained", sharey=True)
    for ax, one in zip(panels, content["costs"], strict=True):
        for lost in sorted({cell["lost_per_hour"] for cell in content["cells"]}):
            cells = [
                (cell["shard_seconds"], cell["over_ideal"])
                for cell in content["cells"]
                if (cell["strategy"], cell["workers"], cell["lost_per_hour"])
                == (one["strategy"], one["workers"], lost)
            ]
            ax.plot(*zip(*cells, strict=True), marker="o", label=f"{100 * lost:g} % lost an hour")
        title = f"{one['strategy']}, {one['workers']:,} workers"
        ax.set(xscale="log", xlabel="seconds a shard", title=title, ylim=(0.9, 3.0))
    panels[0].set_ylabel("time over the ideal")
    panels[0].legend(fontsize="small")
    figure.savefig(folder / "sizing-shards.svg", metadata={"Date": None})

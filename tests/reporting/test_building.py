"""What a report holds, for every kind of ranks, and what it leaves out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullrank as fr
from fullrank.designs import Adaptive
from fullrank.errors import InputError
from fullrank.metrics import Metric
from fullrank.reporting import Report
from fullrank.reporting.figures.tips import tips
from fullrank.reporting.sections import byline
from fullrank.samples import ExactRanks, RankSample, Seeds, simulate

ALL = {"metrics": "recall@10", "rng": 0}
ONE = ALL | {"bounds": False}


def test_sampled_models_with_exact_ranks_have_every_part(fixed: Report) -> None:
    assert list(fixed.figures) == [
        "metrics", "metrics-2", "recall", "recall-1", "recall-2", "ranks", "blind-spot",
        "differences", "winner",
    ]  # fmt: skip
    names = [one.name for one in fixed.figures["recall-2"].series]
    assert names[0] == "naive"
    assert names[1].startswith("mapped by beta@")
    assert names[2:] == ["new", "exact"]
    assert fixed.columns() == [
        "model", "naive", "full catalogue", "95 % CI", "bounds", "exact",
    ]  # fmt: skip


def test_the_numbers_are_those_of_the_library(fixed: Report) -> None:
    model = fixed.models[1]
    sample = model.given
    estimate = fr.estimate(sample, metrics=["recall@10", "ndcg@10", "ap@10"])
    value = model.values["ndcg@10"]
    assert value.estimate == estimate["ndcg@10"]
    ends = pytest.approx(tuple(estimate.confidence_interval["ndcg@10"]))
    assert (value.low, value.high) == ends  # but for the rounding of a product with more columns
    assert value.naive == sample.naive("ndcg@10")
    assert value.exact == model.exact.metrics("ndcg@10")["ndcg@10"]
    limits = fr.bounds(sample, ["recall@10"])["recall@10"]
    # all bounds of the report hold at once and on a coarser grid: close, never much narrower
    shown = model.values["recall@10"]
    assert shown.least == pytest.approx(limits.low, abs=0.02)
    assert shown.most == pytest.approx(limits.high, abs=0.02)


def test_the_curves_are_recall_at_their_k(fixed: Report) -> None:
    model = fixed.models[0]
    ks = dict(model.curve)
    exact = model.exact.ranks
    for k in (1, 10, model.n_items):
        near = min(ks, key=lambda one: abs(one - k))
        assert ks[near].exact == pytest.approx(np.mean(exact <= near))
    assert ks[model.n_items].estimate == pytest.approx(1.0)
    naive = next(one for one in fixed.figures["recall-1"].series if one.name == "naive")
    assert max(naive.x) <= 100  # there is no k beyond the sample
    assert naive.y[0] == pytest.approx(model.given.naive("recall@1"))


def test_the_summary_answers_first(fixed: Report) -> None:
    """Which model and how sure, by how much, what the sample could not show; then the rest."""
    best, lead, unseen, *rest = fixed.summary
    assert best.startswith("new is most likely the best by recall@10 on the full catalogue")
    chance = fixed.comparison.p_best[1, 0]
    said = "over 99 %" if chance > 0.99 else f"{100 * chance:.0f} %"
    assert f"(probability {said} under the smoothness assumption)" in best
    value = fixed.models[1].values["recall@10"]
    assert f"{value.estimate:.4f} (95 % CI {value.low:.4f} to {value.high:.4f})" in best
    between = fixed.comparison.between("new", "old", "recall@10")
    assert lead.startswith(f"The lead of new over old, {between.estimate:.2f}")
    assert ("more than chance" in lead) == (between.better == "new")
    assert "hardly distinguishes ranks 1 to 20 (" in unseen
    assert f"{value.least:.3f} to {value.most:.3f}" in unseen
    text = " ".join(rest)
    assert "Among the sampled candidates, the recall@10 of new is 0." in text
    assert f"The exact ranks are known here: new has {value.exact:.4f}, inside the interval" in text
    assert "and is the best" in text
    assert rest[-1].startswith(
        "Two models were evaluated on 400 users. Each held-out item (target) "
    )
    assert "among 100 of 2,000 items, drawn at random" in rest[-1]


def test_a_report_marks_what_estimates_mark(fixed: Report, kit: Any) -> None:
    """Every estimate below the resolution of its sample, in tables, figures and captions."""
    column = fixed.columns().index("95 % CI")
    for metric, rows in fixed.groups():
        assert [row[0] for row in rows] == ["new", "old"]  # the best first
        assert all(row[column].endswith(" ▲") for row in rows)
        assert all(model.estimate.marked(metric) for model in fixed.models)
    assert all(one.beside[0].endswith(" ▲") for one in fixed.figures["metrics"].series[:2])
    says = (
        "▲ marks a metric about which the sample says little: the sample hardly distinguishes "
        "ranks 1–20, so the estimate depends on the smoothness assumption."
    )
    assert says in str(fixed)
    assert says in fixed.to_markdown()
    page = fixed.to_html()
    assert f"<dt>▲</dt><dd>{says.removeprefix('▲ marks ')}</dd>" in page
    assert "<li>The sample hardly distinguishes true ranks 1–20: " in page
    whole = fr.report({"a": kit.exact_ranks(kit.ranks_of(3.0))}, **ONE)
    assert "▲" not in str(whole) + whole.to_html()


def test_the_pick_of_the_naive_metric_is_said_only_where_it_is_another(fixed: Report) -> None:
    from fullrank.reporting.conclusions import summary

    picked = {"new": False, "old": True}
    for name, told in picked.items():
        compared = replace(fixed.comparison, naive_best={"recall@10": name})
        for chances in (compared.p_best, 0.5 + 0.0 * compared.p_best):  # one is named, or none
            one = replace(compared, p_best=chances)
            said = " ".join(summary(fixed.models, one, "recall@10", 0.95))
            assert (f"would have picked {name}." in said) == told


def test_a_single_model_is_not_compared(kit: Any) -> None:
    sample = simulate(kit.ranks_of(3.0), n_items=kit.n_items, design="sampled:100", rng=0)
    report = fr.report({"mine": sample}, **ALL)
    assert list(report.figures) == ["metrics", "recall", "ranks", "blind-spot"]
    assert report.comparison is None
    assert report.notes == ()
    assert report.summary[0].startswith("On the full catalogue, the recall@10 of mine is 0.")


def test_exact_ranks_alone_are_not_estimated(kit: Any) -> None:
    ranks = {name: kit.exact_ranks(kit.ranks_of(p)) for name, p in (("a", 3.0), ("b", 2.0))}
    report = fr.report(ranks, **ONE)
    assert list(report.figures) == ["metrics", "recall", "ranks", "differences", "winner"]
    assert report.columns() == ["model", "full catalogue", "95 % CI"]
    assert report.models[0].values["recall@10"].estimate == pytest.approx(
        np.mean(kit.ranks_of(3.0) <= 10)
    )
    assert "nothing had to be estimated" in " ".join(report.summary)


def test_captions_say_what_is_estimated(kit: Any) -> None:
    exact = kit.exact_ranks(kit.ranks_of(2.0))
    a, c = (
        kit.named(simulate(kit.ranks_of(p), n_items=kit.n_items, design="sampled:100", rng=0))
        for p in (3.0, 4.0)
    )
    for ranks, says, points in (
        ({"a": a, "c": c}, "Estimated recall up", "estimates"),
        ({"a": a, "b": exact}, "Recall up", "estimates and exact values"),
        ({"b": exact, "d": exact}, "Recall up", "exact values"),
    ):
        figures = fr.report(ranks, **ONE).figures
        assert figures["recall"].reading.startswith(says)
        assert figures["metrics"].reading.startswith(f"Points: {points}. ")


def test_a_sample_of_every_item_is_exact(kit: Any) -> None:
    ranks = kit.ranks_of(3.0)
    whole = RankSample.from_ranks(ranks, sample_size=kit.n_items, n_items=kit.n_items)
    report = fr.report({"a": whole}, **ALL)
    assert report.models[0].values["recall@10"].exact == pytest.approx(np.mean(ranks <= 10))
    assert "blind-spot" not in report.figures
    beside = simulate(ranks, n_items=kit.n_items, design="sampled:100", rng=0)
    both = fr.report({"a": beside}, exact={"a": whole}, **ALL)
    assert both.models[0].values["recall@10"].exact == pytest.approx(np.mean(ranks <= 10))


def test_adaptive_samples_have_no_naive_metric_but_costs(kit: Any) -> None:
    sample = simulate(
        kit.ranks_of(3.0), n_items=kit.n_items, design="adaptive:levels=25/50/100/400", rng=0
    )
    report = fr.report({"mine": sample}, **ONE)
    assert "naive" not in report.columns()
    assert "covers about 5 ranks of the catalogue, no more than the cut-off of 10." in " ".join(
        report.summary
    )
    assert [one.name for one in report.figures["recall"].series] == ["mine"]
    costs = report.figures["efficiency"]
    assert costs.rows[0][:2] == ("mine", "25")
    assert len(costs.rows) == 4


@pytest.mark.slow
def test_several_targets_have_no_single_distribution(kit: Any) -> None:
    report = fr.report({"mine": kit.several_targets()}, **ALL)
    assert list(report.figures) == ["metrics", "recall"]
    assert "one target for each user" in " ".join(report.notes_of(report.models[0]))
    assert "held-out items" in report.summary[-1]


def test_users_with_catalogues_of_their_own_have_no_mapping(kit: Any) -> None:
    ranks = kit.ranks_of(3.0)
    sizes = np.random.default_rng(0).integers(kit.n_items - 60, kit.n_items, ranks.size)
    drawn = np.random.default_rng(1).hypergeometric(
        np.minimum(ranks, sizes) - 1, sizes - np.minimum(ranks, sizes), 99
    )
    sample = RankSample.from_ranks(
        1 + drawn, sample_size=100, n_items=sizes, design="sampled:pool=unseen"
    )
    report = fr.report({"mine": sample}, **ALL)
    assert list(report.figures) == ["metrics", "recall", "ranks", "blind-spot"]
    assert [one.name for one in report.figures["recall"].series] == ["naive", "mine"]
    assert "items that the user had not seen" in report.summary[-1]
    last, value = report.models[0].curve[-1]
    assert last == sizes.max()
    assert (value.estimate, value.low, value.high) == (1.0, 1.0, 1.0)  # of all items, by definition


@pytest.mark.slow
def test_counts_alone_are_not_compared_and_the_report_says_so(kit: Any) -> None:
    samples = {
        name: simulate(
            kit.ranks_of(power), n_items=kit.n_items, design="sampled:100", rng=0
        ).without_rows()
        for name, power in (("a", 2.0), ("b", 3.0))
    }
    report = fr.report(samples, **ONE)
    assert report.comparison is None
    assert "winner" not in report.figures
    assert report.notes[0].startswith("The models were not compared, because `compare` refuses")
    assert "it has only counts" in report.notes[0]
    assert "cannot be tested" in report.summary[0]


def test_no_bounds_where_none_are_asked_for(kit: Any) -> None:
    sample = simulate(kit.ranks_of(3.0), n_items=kit.n_items, design="sampled:100", rng=0)
    report = fr.report({"mine": sample}, **ONE)
    assert "blind-spot" not in report.figures
    assert "bounds" not in report.columns()


@pytest.mark.slow
def test_names_that_print_alike_are_numbered(kit: Any) -> None:
    sample = simulate(kit.ranks_of(3.0), n_items=kit.n_items, design="sampled:100", rng=0)
    report = fr.report({"a": sample, "a\n": sample, "": sample}, **ONE)
    assert [model.name for model in report.models] == ["a", "a #2", "(no name)"]


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (["run #2", "run"], ["run #2", "run"]),
        (["run #1", "run"], ["run #1", "run"]),
        (["a", "a ", "a #2", "a\t"], ["a", "a #3", "a #2", "a #4"]),
    ],
)
def test_no_two_models_have_one_label(names: list[str], labels: list[str], kit: Any) -> None:
    ranks = {name: kit.exact_ranks(np.array([3, 7, 11])) for name in names}
    assert [model.name for model in fr.report(ranks, **ONE).models] == labels


def test_metrics_without_a_cut_off_and_twice_the_same(kit: Any) -> None:
    sample = simulate(kit.ranks_of(3.0), n_items=kit.n_items, design="sampled:100", rng=0)
    report = fr.report({"mine": sample}, metrics=["auc", "auc", "ndcg"], rng=0)
    assert report.metrics == ("auc", "ndcg")
    assert "This metric hardly depends on the first ranks" in " ".join(report.summary)
    assert np.isfinite(report.models[0].values["auc"].estimate)


def test_tiny_samples_make_a_report(kit: Any) -> None:
    sample = RankSample.from_ranks([1], sample_size=2, n_items=3)
    report = fr.report({"mine": sample}, **ALL)
    json.dumps(report.to_dict(), allow_nan=False)
    single = fr.report({"mine": kit.exact_ranks(np.array([7]))}, **ALL)
    assert single.models[0].values["recall@10"].estimate == 1.0
    assert single.models[0].values["recall@10"].low < 0.5  # one user tells little of others


def test_the_text_is_the_summary_and_the_table(fixed: Report) -> None:
    lines = str(fixed).splitlines()
    assert lines[0] == "Old & new"
    assert lines[2] == fixed.summary[0]
    head = next(line for line in lines if line.startswith("metric"))
    assert head.split()[:3] == ["metric", "model", "naive"]
    assert sum(line.startswith(("recall@10", "ndcg@10")) for line in lines) == 2


def test_plain_numbers_and_tables(fixed: Report) -> None:
    content = json.loads(json.dumps(fixed.to_dict(), allow_nan=False))
    assert list(content)[:2] == ["format", "kind"]
    first = content["models"][0]["metrics"][0]
    assert set(first) >= {"metric", "naive", "estimate", "low", "high", "exact", "least", "most"}
    assert content["figures"]["recall"]["series"][0]["x"][0] == 1.0
    assert content["measured"]["seed"] == "1"
    assert fixed.to_frame().shape[0] == 4
    assert fixed.to_markdown().count("\n|") == 5  # below the first line: the rule and four rows


def test_what_the_caller_says_of_the_measurement_comes_first_and_wins(kit: Any) -> None:
    told = {"numpy": "of its own", "users": 3}
    ranks = kit.exact_ranks(np.array([3, 7, 11]))
    report = fr.report({"a": ranks}, measured=told, **ONE)
    assert list(report.measured)[:2] == ["numpy", "users"]
    assert report.measured["numpy"] == "of its own"
    assert report.measured["users"] == "3"
    assert "exact ranks for 3 targets" in report.measured["what was ranked"]
    assert report.measured["fullrank"] == fr.__version__


@pytest.mark.slow
def test_the_same_seed_makes_the_same_report(kit: Any) -> None:
    samples = {
        name: simulate(kit.ranks_of(p, n=80), n_items=kit.n_items, design="sampled:200", rng=0)
        for name, p in (("a", 2.0), ("b", 2.1))
    }
    told = {"date": "2024-02-29", "data": "simulated: 80 users"}
    first, second = (fr.report(samples, **ONE, measured=told) for _ in range(2))
    assert first.to_dict() == second.to_dict()
    assert first.to_html() == second.to_html()
    assert (first.date, first.title) == ("2024-02-29", "2 models on simulated")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"results": {}}, r"`results`.*model"),
        ({"results": {3: None}}, r"`results`.*\b3\b"),
        ({"results": {"a": [1, 2]}}, r"`results`.*Estimate.*RankSample.*\ba\b.*list"),
        ({"exact": [1]}, r"`exact`.*models"),
        ({"exact": {"b": None}}, r"`exact`.*`results`.*'b'"),
        ({"exact": {"a": "x"}}, r"`exact`.*ExactRanks.*\ba\b"),
        ({"metrics": "hitz"}, r"`metric`.*'hitz'"),
        ({"confidence_level": 2}, r"`confidence_level`.*\b2\b"),
        ({"bounds": "yes"}, r"`bounds`.*True.*False.*'yes'"),
        ({"bounds": {"a": 3}}, r"`bounds`.*Bounds.*\ba\b.*int"),
        ({"bounds": {"b": None}}, r"`bounds`.*`results`.*'b'"),
        ({"measured": "ml-1m"}, r"`measured`.*str"),
        ({"path": "page.pdf"}, r"`path`.*\.html.*'\.pdf'"),
        ({"path": 3}, r"`path`.*int"),
        ({"method": "magic"}, r"`method`.*'magic'"),
    ],
)
def test_wrong_arguments_are_named(kit: Any, change: dict[str, Any], says: str) -> None:
    sample = simulate(kit.ranks_of(3.0, n=50), n_items=kit.n_items, design="sampled:100", rng=0)
    arguments: dict[str, Any] = {"results": {"a": sample}} | change
    with pytest.raises(InputError, match=says):
        fr.report(arguments.pop("results"), **arguments)


def test_bounds_that_assume_a_shape_are_refused(kit: Any) -> None:
    sample = simulate(kit.ranks_of(3.0, n=50), n_items=kit.n_items, design="sampled:100", rng=0)
    shaped = fr.bounds(sample, "recall@10", shape="decreasing")
    with pytest.raises(InputError, match=r"`bounds`.*no shape.*\ba\b.*'decreasing'"):
        fr.report({"a": sample}, bounds={"a": shaped}, **ALL)


def test_exact_ranks_of_a_larger_catalogue_are_refused(kit: Any) -> None:
    sample = simulate([3, 5], n_items=100, design="sampled:10", rng=0)
    with pytest.raises(InputError, match=r"\ba\b.*2,000.*\b100\b"):
        fr.report({"a": sample}, exact={"a": kit.exact_ranks(np.array([3, 5]))})


def test_the_file_is_written_whole_or_not_at_all(tmp_path: Any, kit: Any) -> None:
    sample = simulate(kit.ranks_of(3.0, n=50), n_items=kit.n_items, design="sampled:100", rng=0)
    path = tmp_path / "report.html"
    report = fr.report({"a": sample}, path, **ONE)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.raises(InputError, match=rf"{tmp_path}.*folder"):
        report.write(tmp_path)
    with pytest.raises(InputError, match=r"nowhere.*writable|writable.*nowhere"):
        report.write(tmp_path / "nowhere" / "report.html")
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


def test_an_adaptive_sample_of_every_item_is_not_said_to_see_everything(kit: Any) -> None:
    levels = [25, 100, 400, kit.n_items]
    sample = simulate(kit.ranks_of(3.0), n_items=kit.n_items, design=Adaptive(levels=levels), rng=0)
    report = fr.report({"m": sample}, **ALL)
    assert (
        "At its largest size, the sample distinguishes rank 1 from the others. Without any"
        in " ".join(report.summary)
    )
    seen = "Rank 1 of the sample, at its largest size, is rank 1 of the catalogue."
    assert report.figures["blind-spot"].reading.endswith(seen)


def test_most_of_the_items_are_not_said_to_be_all(kit: Any) -> None:
    sample = simulate(kit.ranks_of(3.0), n_items=kit.n_items, design="sampled:1400", rng=0)
    report = fr.report({"m": sample}, **ALL)
    seen = "Rank 1 of the sample covers about 1.4 ranks of the catalogue."
    assert seen in " ".join(report.summary)
    assert report.figures["blind-spot"].reading.endswith(seen)


def test_a_share_of_all_is_said_as_one(kit: Any) -> None:
    alike = RankSample.from_ranks(
        np.ones(40, int), sample_size=100, n_items=kit.n_items, design="sampled:replacement=true"
    )
    report = fr.report({"m": alike}, **ONE)
    assert any("(100 % of the held-out items rank first in it)" in said for said in report.summary)


class Calls:
    """How often a function was called."""

    def __init__(self, function: Any) -> None:
        self.function, self.number = function, 0

    def __call__(self, *given: Any, **named: Any) -> Any:
        self.number += 1
        return self.function(*given, **named)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> dict[str, Calls]:
    """Every estimate and comparison, whoever asks for it."""
    from fullrank import inference
    from fullrank.evaluation import result
    from fullrank.reporting import build, measurement

    calls = {name: Calls(getattr(inference, name)) for name in ("estimate", "compare", "bounds")}
    for module in (fr, inference, result, build, measurement):  # `fr` keeps what it once looked up
        for name, one in calls.items():
            if hasattr(module, name):
                monkeypatch.setattr(module, name, one)
    return calls


def test_an_evaluation_and_its_report_estimate_each_sample_once(
    counted: dict[str, Calls], tmp_path: Path, need: Any
) -> None:
    need("jinja2")
    split = fr.data.load("simulated").split("leave-one-out", rng=0)
    found = fr.evaluate(
        ["popularity", "ease:regularization=100"], split, design="sampled:100", out=tmp_path / "r"
    )
    str(found)
    assert (tmp_path / "r" / "report.html").is_file()
    assert {name: one.number for name, one in counted.items()} == {
        "estimate": 2,
        "compare": 1,
        "bounds": 2,
    }


def test_what_is_given_is_not_computed_again(kit: Any, counted: dict[str, Calls]) -> None:
    sample = simulate(kit.ranks_of(3.0), n_items=kit.n_items, design="sampled:100", rng=0)
    other = simulate(kit.ranks_of(2.0), n_items=kit.n_items, design="sampled:100", rng=1)
    given = {name: fr.estimate(one, ONE["metrics"], interval_for="users", uncertainty="bootstrap",
                               n_resamples=20, rng=0)
             for name, one in (("a", sample), ("b", other))}  # fmt: skip
    compared = fr.compare({"a": sample, "b": other}, ONE["metrics"], rng=0)
    limits = {"a": fr.bounds(sample, ONE["metrics"]), "b": fr.bounds(other, ONE["metrics"])}
    for one in counted.values():
        one.number = 0
    report = fr.report(given, comparison=compared, bounds=limits)
    assert [one.number for one in counted.values()] == [0, 0, 0]
    assert report.comparison is compared
    for model in report.models:
        one = model.values[ONE["metrics"]]
        estimate = given[model.name]
        assert (one.low, one.high) == tuple(estimate.confidence_interval[ONE["metrics"]])
        assert one.least == limits[model.name][ONE["metrics"]].low
        assert model.estimate is estimate
        assert len(model.curve) > 10  # of the same fit
    assert report.measured["intervals"] == "for these users, by bootstrap"


def test_what_is_given_must_agree(kit: Any) -> None:
    sample = simulate(kit.ranks_of(3.0), n_items=kit.n_items, design="sampled:100", rng=0)
    found = fr.estimate(sample, metrics="recall@10")
    with pytest.raises(InputError, match=r"`metrics`.*recall@10.*ndcg@5"):
        fr.report({"a": found}, metrics="ndcg@5")
    with pytest.raises(InputError, match=r"`confidence_level`.*0\.9, 0\.95"):
        fr.report({"a": found}, confidence_level=0.9)
    compared = fr.compare({"a": sample, "b": sample}, "recall@10", rng=0)
    with pytest.raises(InputError, match=r"`comparison`.*`results`.*\ba\b.*a, b"):
        fr.report({"a": found}, comparison=compared)
    with pytest.raises(InputError, match=r"`comparison`.*dict"):
        fr.report({"a": found}, comparison={})  # type: ignore[arg-type]


def test_an_estimate_of_several_targets_draws_what_it_has(kit: Any) -> None:
    found = fr.estimate(kit.several_targets(), metrics=["recall@10", "ndcg@10"])
    report = fr.report({"mine": found})
    assert [k for k, _ in report.models[0].curve] == [10]
    bare = fr.estimate(kit.several_targets(), metrics="ndcg@10")
    assert "recall" not in fr.report({"mine": bare}).figures


def test_values_on_the_common_users_are_labelled(kit: Any) -> None:
    """The table of metrics is of all users, and the comparison of those that models share."""
    ranks = {name: kit.exact_ranks(kit.ranks_of(power)) for name, power in (("a", 3.0), ("b", 2.5))}
    whole = fr.report(ranks, bounds=False, rng=0).to_html()
    assert "common users" not in whole
    fewer = ranks["b"].take(ranks["b"].user < 300)
    page = fr.report({"a": ranks["a"], "b": fewer}, bounds=False, rng=0).to_html()
    assert "value on the 300 common users" in page


def _three(kit: Any) -> dict[str, Any]:
    return {
        name: kit.exact_ranks(kit.ranks_of(p, seed=9))
        for name, p in zip("abc", (2, 3, 4), strict=True)
    }


def test_a_comparison_with_a_baseline_shows_the_pairs_that_it_has(kit: Any) -> None:
    ranks = _three(kit)
    against = fr.compare(ranks, "recall@10", baseline="a", rng=0)
    report = fr.report(ranks, comparison=against, bounds=False)
    assert report.summary[1].startswith("The lead of c over a,")
    figure = report.figures["differences"]
    assert [row[0] for row in figure.rows] == ["a"]
    assert "ahead of the baseline a." in figure.reading
    table = report.to_html().split("Comparison of the models by each metric</caption>")[1]
    row = table.split('<th scope="row">b</th>')[1].split("</tr>")[0]
    assert row.count("<td>–</td>") == 3


def test_the_comparison_is_shown_at_the_metrics_of_the_report(kit: Any) -> None:
    ranks = _three(kit)
    found = fr.compare(ranks, "recall@10, mrr, ndcg@10", rng=0)
    report = fr.report(ranks, metrics="ndcg@10, recall@10", comparison=found, bounds=False)
    assert report.comparison.metrics == report.metrics == ("ndcg@10", "recall@10")
    assert report.figures["differences"].title == "Lead of c in ndcg@10"
    assert report.comparison.between("c", "b", "recall@10") == found.between("c", "b", "recall@10")
    same = fr.report(ranks, comparison=found, bounds=False)
    assert same.comparison is found


def test_uncorrected_intervals_are_not_taken_for_significance(kit: Any) -> None:
    """With many models an interval can exclude zero where the corrected p value is large."""
    ranks = {f"m{i}": kit.exact_ranks(kit.ranks_of(2.0, seed=i)) for i in range(11)}
    ranks["top"] = kit.exact_ranks(kit.ranks_of(2.6, seed=21))
    report = fr.report(ranks, metrics="recall@100", bounds=False, rng=0)
    found = report.comparison
    second = max((v, name) for name, v in zip(found.models, found.estimate[:, 0], strict=True)
                 if name != "top")[1]  # fmt: skip
    lead = found.between("top", second, "recall@100")
    assert lead.confidence_interval.low > 0.0
    assert lead.better is None
    says = (
        f"would be significant on its own (p = {lead.p_value:.3f}), but is not after correction "
        f"for 66 comparisons (Holm p = {lead.corrected_p:.3f}). The probability of being the best "
        "is not corrected."
    )
    assert report.summary[1].endswith(says)
    assert "smoothness" not in report.summary[0]  # exact ranks need no assumption
    assert report.summary[-1].startswith("Twelve models were")
    assert "not corrected for multiple comparisons" in report.figures["differences"].reading


def test_models_without_a_lead_have_no_sentence_on_it(kit: Any) -> None:
    ranks = {name: kit.exact_ranks(np.full(50, 1500)) for name in "ab"}
    said = " ".join(fr.report(ranks, **ONE).summary)
    assert "2 models share the highest value" in said
    assert "The lead" not in said


def test_a_naive_comparison_is_refused(kit: Any) -> None:
    """Its values and leads are not of the full catalogue, of which the page speaks."""
    samples = {
        name: simulate(kit.ranks_of(p), n_items=kit.n_items, design="sampled:100", rng=0)
        for name, p in (("a", 2.0), ("b", 3.0))
    }
    naive = fr.compare(samples, "recall@10", method="naive", rng=0)
    with pytest.raises(InputError, match=r"`comparison`.*full-catalogue.*naive"):
        fr.report(samples, comparison=naive)


def test_without_intervals_none_are_spoken_of(kit: Any) -> None:
    samples = {
        name: simulate(kit.ranks_of(p), n_items=kit.n_items, design="sampled:100", rng=0)
        for name, p in (("a", 2.0), ("b", 3.0))
    }
    given = {
        name: fr.estimate(one, "recall@10", confidence_level=None) for name, one in samples.items()
    }
    report = fr.report(given, bounds=False, rng=0)
    assert report.columns() == ["model", "naive", "full catalogue"]
    told, marked = report.figures["metrics"].reading.split(" ▲: ")
    assert told == "Points: estimates."
    assert marked == "the sample says little about the estimate (see the table of metrics)."
    assert [row[2][-2:] for _, rows in report.groups() for row in rows] == [" ▲"] * 2
    assert report.figures["metrics"].beside == ("recall@10", "P(best)")
    assert "nterval" not in report.figures["recall"].reading + report.figures["recall-1"].reading
    assert tips(report.figures["metrics"])[0][0][2].count("(") == 0
    assert "confidence interval" not in report.to_html()


def test_the_page_says_whom_its_intervals_are_for(kit: Any) -> None:
    ranks = kit.exact_ranks(kit.ranks_of(3.0))
    page = fr.report(fr.estimate(ranks, "recall@10", interval_for="users"), **ONE)
    assert "in the population" not in " ".join(page.summary)
    assert "confidence intervals for these users." in page.to_html().replace("\u00a0", " ")


def test_the_sentence_for_a_paper_names_every_design(kit: Any) -> None:
    samples = {
        str(n): simulate(kit.ranks_of(3.0), n_items=kit.n_items, design=f"sampled:{n}", rng=0)
        for n in (50, 200)
    }
    page = fr.report(samples, **ONE).to_html()
    told = page.split("Metrics are estimates")[1].split("</p>")[0]
    assert "among 50 of 2,000" in told
    assert "among 200 of 2,000" in told


def test_models_of_other_users_are_said_to_have_users_each(kit: Any) -> None:
    ranks = {
        name: ExactRanks.from_ranks(
            kit.ranks_of(p, n=50), n_items=kit.n_items, user=first + np.arange(50)
        )
        for name, p, first in (("a", 2.0, 0), ("b", 3.0, 100))
    }
    assert "evaluated on 50 users each." in fr.report(ranks, **ONE).summary[-1]


@pytest.mark.parametrize("exact", [True, False])
def test_seeds_are_averaged_in_every_part(kit: Any, exact: bool) -> None:
    """No part shows the first seed as if it were the average."""

    def ranks(power: float, seed: int) -> Any:
        found = kit.ranks_of(power, seed=seed)
        if exact:
            return kit.exact_ranks(found)
        return kit.named(simulate(found, n_items=kit.n_items, design="sampled:100", rng=seed))

    seeds = {
        name: Seeds({str(seed): ranks(power, seed) for seed in range(3)})
        for name, power in (("a", 2.0), ("b", 2.3))
    }
    estimates = fr.estimate(seeds, "recall@10")
    report = fr.report(estimates, rng=0)
    model = report.models[0]
    each = [fr.estimate(one, "recall@10") for one in seeds["a"].samples.values()]
    for k, value in model.curve:
        mean = np.mean([one.distribution.metric(Metric("recall", k)) for one in each])
        assert value.estimate == pytest.approx(mean)
    assert model.bounds is None
    assert "recall-1" not in report.figures
    assert report.comparison is None
    assert "some have several seeds" in report.notes[0]
    assert "could not be compared" in report.summary[0]
    found = fr.compare(seeds, "recall@10", rng=0)
    compared = fr.report(estimates, comparison=found)
    lead = estimates["b"]["recall@10"] - estimates["a"]["recall@10"]
    assert compared.comparison is found
    assert compared.summary[1].startswith(f"The lead of b over a, {lead:.4f} ")
    assert "Values are averaged over seeds within users." in estimates.to_markdown()


def test_an_exact_value_has_no_place_in_an_interval_that_is_not_there(kit: Any) -> None:
    ranks = kit.ranks_of(3.0)
    sample = simulate(ranks, n_items=kit.n_items, design="sampled:100", rng=0)
    given = fr.estimate(sample, "recall@10", confidence_level=None)
    report = fr.report({"a": given}, exact={"a": kit.exact_ranks(ranks)}, **ONE)
    assert "The exact ranks are known here: the exact value is 0." in " ".join(report.summary)
    assert "side the interval" not in " ".join(report.summary)


def test_models_with_one_exact_value_are_both_the_best(kit: Any) -> None:
    ranks = kit.ranks_of(3.0)
    samples = {
        name: simulate(ranks, n_items=kit.n_items, design="sampled:100", rng=seed)
        for seed, name in enumerate("ab")
    }
    exact = dict.fromkeys("ab", kit.exact_ranks(ranks))
    said = " ".join(fr.report(samples, exact=exact, **ONE).summary)
    assert "and no model has a higher value." in said
    assert "the best is" not in said


def test_models_that_tie_have_no_lead_without_a_comparison(kit: Any) -> None:
    ranks = {name: kit.exact_ranks(np.array([1500])) for name in "ab"}
    report = fr.report(ranks, **ONE)
    assert report.comparison is None
    assert report.summary[0].endswith("recall@10: 2 models share the highest value.")
    assert byline(report)[0] == "1 user"


def test_items_that_users_had_seen_are_not_said_to_be_ranked(kit: Any) -> None:
    whole = kit.exact_ranks(kit.ranks_of(3.0).clip(1, 1900))
    left = replace(whole, pool="unseen", candidates=whole.candidates - np.arange(400) % 50)
    report = fr.report(left, **ONE)
    assert report.summary[1].startswith("Every item that the user had not seen was ranked, so")
    page = report.to_html()
    assert "from exact ranks among all items that the user had not seen (1,951 to 2,000)" in page
    assert "full catalogue (2,000 items)" not in page


def test_the_sentence_for_a_paper_names_every_catalogue_and_averages(kit: Any) -> None:
    samples = {
        str(n): simulate(kit.ranks_of(3.0).clip(1, 1000), n_items=n, design="sampled:100", rng=0)
        for n in (1000, 2000)
    }
    assert "full catalogue (1,000 to 2,000 items)" in fr.report(samples, **ONE).to_html()
    ranks = {str(seed): kit.exact_ranks(kit.ranks_of(2.0, seed=seed)) for seed in range(2)}
    page = fr.report(fr.estimate(Seeds(ranks), "recall@10"), **ONE).to_html()
    assert "exact ranks among all items (2,000), averaged over seeds within users;" in page


def test_the_table_for_a_paper_explains_its_marks(kit: Any) -> None:
    places = {"a": [1] * 99, "b": [1] + [1500] * 98}
    ranks = {name: kit.exact_ranks(np.array(one)) for name, one in places.items()}
    shown = fr.report(ranks, **ONE).to_markdown()
    assert "| **1.0000** |" in shown
    table, caption = shown.split("Table: ")
    assert "▲" in table
    assert "in bold. ▲ marks values with a warning. In some cases, fewer than" in caption
    assert "Two models were evaluated on 99 users." in caption

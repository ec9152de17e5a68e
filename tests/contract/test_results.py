"""One contract for every result: how it prints, what it becomes, how it is drawn, kept and read."""

from __future__ import annotations

import contextlib
import importlib
import json
import pkgutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fullrank as fr
from fullrank import inference
from fullrank._lib.tabular import ByModel, OneRow, Tabular
from fullrank.errors import InputError
from fullrank.samples import (
    ExactRanks,
    RankDistribution,
    consistency,
    sampling_efficiency,
    simulate,
)

N_ITEMS = 200
HOSTILE = "a<b>&|_%$"  # a name that would break a table which does not escape it


def _ranks(step: int) -> list[int]:
    return [1 + user * step % N_ITEMS for user in range(300)]


@cache
def _samples() -> dict[str, Any]:
    users = np.arange(300)
    return {
        name: simulate(_ranks(step), n_items=N_ITEMS, design="sampled:40", user=users, rng=0)
        for name, step in ((HOSTILE, 7), ("b", 3))
    }


@cache
def _exact() -> ExactRanks:
    return ExactRanks.from_ranks(_ranks(3), n_items=N_ITEMS, user=np.arange(300))


def _adaptive() -> Any:
    return simulate(_ranks(3), n_items=N_ITEMS, design="adaptive:20,limit=80", rng=0)


def _estimates() -> Any:
    return fr.estimate(_samples(), "MRR@10, recall@10")


def _evaluation() -> Any:
    rng = np.random.default_rng(0)
    pairs = np.array([(user, item) for user in range(30) for item in rng.permutation(40)[:5]])
    split = fr.Interactions.from_arrays(*pairs.T).split("leave-one-out", by="random", rng=0)
    shape = split.test.n_users, split.test.n_items
    model = fr.FactorScorer(*(rng.normal(size=(n, 3)) for n in shape))
    return fr.evaluate({"one": model}, split, "HR@10", rng=0)


MADE: dict[str, Callable[[], Any]] = {
    "Estimate": lambda: _estimates()[HOSTILE],
    "Estimate of exact ranks": lambda: fr.estimate(_exact(), "MAP@10"),
    "Estimate with bounds": lambda: _estimates()["b"].with_bounds(),
    "Estimates": _estimates,
    "Bounds": lambda: fr.bounds(_samples()["b"], "HR@10"),
    "SeveralBounds": lambda: fr.bounds(_samples(), "HR@10"),
    "Comparison": lambda: fr.compare(_samples(), "MRR@10, HR@5", rng=0),
    "Comparison of sampled metrics": lambda: fr.compare(_samples(), method="naive", rng=0),
    "Explanation": lambda: inference.explain(_samples()["b"], "HR@10"),
    "Explanations": lambda: inference.explain(_samples(), "HR@10"),
    "Plan": lambda: fr.plan("recall@10", pilot=_samples()["b"], n_users=300, margin="20%"),
    "UserMeans": lambda: inference.user_means(_exact(), "HR@10"),
    "UsersNeeded": lambda: fr.users_needed(0.03),
    "SampleMean": lambda: inference.mean_interval([0.1, 0.4, 0.3]),
    "TwoSampleTest": lambda: inference.two_means(0.3, 0.1, 50, 0.2, 0.1, 60),
    "PairedTest": lambda: inference.paired_test([[0.1, 0.2], [0.4, 0.1], [0.3, 0.1]]),
    "Dominance": lambda: inference.dominance(_ranks(3), _ranks(7), depth=N_ITEMS, rng=0),
    "Report": lambda: fr.report(_estimates(), bounds=False, rng=0),
    "RankSample": lambda: _samples()["b"],
    "ExactRanks": _exact,
    "RankDistribution": lambda: RankDistribution.from_ranks(_ranks(3), n_items=N_ITEMS),
    "SamplingEfficiency": lambda: sampling_efficiency(_adaptive()),
    "Consistency": lambda: consistency(_ranks(3), _ranks(7), "MRR", n_items=N_ITEMS),
    "UserSample": lambda: fr.sample_users(10, 4, strata=list("aaaaabbbbb"), rng=0),
    "Evaluation": _evaluation,
}
LINES = ("RankSample", "ExactRanks")  # data rather than tables: their repr is a line in brackets
OF_FOLDERS = ("Evaluation",)  # written as a folder, tested with its runs


@pytest.fixture(params=MADE)
def made(request: pytest.FixtureRequest) -> tuple[str, Any]:
    return request.param, _made(request.param)


@cache
def _made(name: str) -> Any:
    return MADE[name]()


def test_every_result_is_tested() -> None:
    """Whatever is a table in fullrank is in the list above."""
    for one in pkgutil.walk_packages(fr.__path__, "fullrank."):
        if "cuda" not in one.name and "__main__" not in one.name and "cli" not in one.name:
            try:
                importlib.import_module(one.name)
            except ImportError:  # an extra that is not installed
                continue
    every, todo = set(), [Tabular]
    while todo:
        below = todo.pop().__subclasses__()
        todo += below
        every |= {kind.__name__ for kind in below if kind.__module__.startswith("fullrank.")}
    every -= {ByModel.__name__, OneRow.__name__}
    assert every == {type(_made(name)).__name__ for name in MADE}


def test_it_prints_as_its_table(made: tuple[str, Any]) -> None:
    name, result = made
    assert isinstance(result, Tabular)
    shown = repr(result)
    if name in LINES:
        assert shown.startswith(f"<{name}: ")
        assert len(shown) < 200
        assert "\n" not in shown
    else:
        assert shown == str(result)
    assert "mappingproxy" not in shown
    assert "array(" not in shown
    assert len(shown) < 5000


def test_notebooks_show_an_escaped_table(made: tuple[str, Any]) -> None:
    shown = made[1]._repr_html_()
    assert shown.startswith("<table>")
    assert shown.endswith("</table>")
    assert "<b>" not in shown
    assert "<script" not in shown


def test_it_becomes_a_frame(made: tuple[str, Any], need: Callable[[str], Any]) -> None:
    need("pandas")
    frame, table = made[1].to_frame(), made[1].to_arrow()
    assert list(frame.columns) == table.column_names
    assert len(frame) == table.num_rows > 0


def test_it_becomes_plain_numbers(made: tuple[str, Any]) -> None:
    name, result = made
    content = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert content["format"] in (1, 2, 3)
    assert content == json.loads(result.to_json())
    assert content["kind"] in (name.split(" ")[0], "evaluation")


def test_it_becomes_markdown_and_latex(made: tuple[str, Any]) -> None:
    markdown, latex = made[1].to_markdown(), made[1].to_latex()
    assert markdown.startswith("| ")
    assert "\n| --- |" in markdown
    assert r"\begin{tabular}{l" in latex
    assert r"\end{tabular}" in latex
    assert HOSTILE not in latex
    assert "<b>&|" not in markdown


def test_it_is_drawn_on_axes_that_come_back(
    made: tuple[str, Any], need: Callable[[str], Any]
) -> None:
    pyplot = need("matplotlib.pyplot")
    axes = pyplot.subplots()[1]
    assert made[1].plot(axes) is axes
    assert made[1].plot().figure is not axes.figure
    pyplot.close("all")


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
def test_it_is_written_and_read(made: tuple[str, Any], suffix: str, tmp_path: Path) -> None:
    name, result = made
    if name in OF_FOLDERS:
        result.write(tmp_path / "run", report=False)
        assert str(type(result).read(tmp_path / "run")) == str(result)
        return
    path = tmp_path / f"result{suffix}"
    result.write(path)
    again = type(result).read(path)
    assert type(again) is type(result)
    assert str(again) == str(result)
    assert again.to_dict() == result.to_dict()
    assert again.to_latex() == result.to_latex()
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_of_another_kind_is_refused(made: tuple[str, Any], tmp_path: Path) -> None:
    name, result = made
    if name in OF_FOLDERS:
        return
    path = tmp_path / "other.json"
    path.write_text(json.dumps({"format": 1, "kind": "Other", "content": {}}))
    with pytest.raises(InputError, match=r"`path`"):
        type(result).read(path)
    with pytest.raises(InputError, match=r"`path`.*\.txt"):
        result.write(tmp_path / "result.txt") if name != "Report" else type(result).read(
            tmp_path / "result.txt"
        )


@pytest.mark.parametrize(
    "text",
    ["", "[1", "null", "7", '{"format": 1}', '{"format": 9, "kind": "Estimate"}', "[" * 9999],
)
def test_files_that_are_no_results(text: str, tmp_path: Path) -> None:
    path = tmp_path / "estimate.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"`path`.*Estimate"):
        inference.Estimate.read(path)


def test_a_changed_file_gives_one_sentence(tmp_path: Path) -> None:
    """Whatever is put in the place of a field: a result, or a sentence."""
    path = tmp_path / "estimate.json"
    _made("Estimate").write(path)
    whole = json.loads(path.read_text())
    for field in whole["content"]:
        for wrong in (None, -1, "text", [], {}, [[1]], {"kind": "Estimate", "content": {}}):
            content = {**whole["content"], field: wrong}
            path.write_text(json.dumps({**whole, "content": content}))
            with contextlib.suppress(InputError):
                inference.Estimate.read(path).to_dict()


def test_parquet_is_a_table_for_others(tmp_path: Path, need: Callable[[str], Any]) -> None:
    pandas = need("pandas")
    _made("Comparison").write(tmp_path / "found.parquet")
    frame = pandas.read_parquet(tmp_path / "found.parquet")
    assert frame["metric"].tolist() == ["MRR@10", "HR@5"]


def test_metrics_keep_the_names_that_were_asked_for() -> None:
    found = _made("Estimate")
    assert list(found.values) == ["MRR@10", "recall@10"]
    assert found["rr@10"] == found["mrr@10"] == found.values["MRR@10"]
    assert "MRR@10" in str(found)
    assert "rr@10" not in str(found).replace("MRR@10", "")
    assert [one["metric"] for one in found.to_dict()["metrics"]] == ["MRR@10", "recall@10"]
    compared = _made("Comparison")
    assert compared.metrics == ("MRR@10", "HR@5")
    assert compared["hit_rate@5"].metrics == ("HR@5",)
    assert compared.best("rr@10") == compared.best("MRR@10")


@pytest.mark.parametrize("name", sorted(MADE))
def test_what_can_be_indexed_lists_its_names(name: str) -> None:
    result = MADE[name]()
    if not hasattr(type(result), "__getitem__"):
        return
    names = list(result)
    assert names
    for one in names:
        result[one]

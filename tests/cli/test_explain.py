"""`fullrank explain`."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from fullrank.inference import explain

SIZES = ("--sample-size", "100", "--n-items", "26_744")


def test_text_and_json_are_the_library_s(fullrank: Any) -> None:
    expected = explain(metrics=["hr@10", "ndcg@10"], design="sampled:100", n_items=26_744)
    words = ("explain", *SIZES, "-m", "hr@10", "-m", "ndcg@10")
    assert fullrank(*words).out == f"{expected}\n"
    assert json.loads(fullrank(*words, "--json").out) == expected.to_dict() | {"assumed": []}


def test_with_replacement(fullrank: Any) -> None:
    how = ("--design", "sampled:replacement=true")
    assert "(with replacement from all items)" in fullrank("explain", *SIZES, *how).out


def test_fitted_to_ranks(fullrank: Any, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "two.csv"
    path.write_text("model,rank\n" + "".join(f"{m},{r}\n" for m in "ab" for r in (1, 2, 3, 9, 40)))
    done = fullrank("explain", "--ranks", path, *SIZES)
    assert done.code == 0
    assert done.out.count("(fitted): ") == 2
    assert done.out.startswith("a: A target ranked among 100")
    content = json.loads(fullrank("explain", "--ranks", path, *SIZES, "--json").out)
    assert [one["model"] for one in content["models"]] == ["a", "b"]
    assumed = (
        "Sampling without replacement is assumed. If an item could be drawn twice, give "
        "`--design sampled:replacement=true`."
    )
    assert done.out.endswith(f"\n\n{assumed}\n")
    assert content["assumed"] == [assumed]


def test_training_items_are_those_of_the_design(fullrank: Any) -> None:
    """The option, which was ignored, says the same as the text of the design."""
    sizes = ("explain", "--n-items", "3000")
    text = fullrank(*sizes, "--design", "sampled:100,excluded=true")
    option = fullrank(*sizes, "--design", "sampled:100", "--training-items", "excluded")
    assert option == text
    assert "training items excluded" in option.out
    kept = fullrank(*sizes, "--design", "sampled:100,excluded=true", "--training-items", "kept")
    assert (kept.code, kept.out) == (2, "")
    assert "`--training-items` must be excluded, as in `--design sampled:100," in kept.err


def test_the_help_offers_what_is_taken(fullrank: Any) -> None:
    shown = fullrank("explain", "--help").out
    assert "adaptive:" not in shown
    assert "Default: infer" not in shown
    done = fullrank("explain", "--n-items", "3000", "--design", "adaptive:25")
    assert (done.code, done.out) == (2, "")
    assert (
        "must have one sample size if there are no ranks, as in sampled:100, not adaptive"
        in done.err
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--n-items", "100"), r"`--design`.*`--n-items`"),
        (("--sample-size", "n", "--n-items", "9"), r"`--sample-size`.*'n'"),
    ],
)
def test_errors(fullrank: Any, words: tuple[str, ...], says: str) -> None:
    done = fullrank("explain", *words)
    assert (done.code, done.out) == (2, "")
    assert re.search(says, done.err)

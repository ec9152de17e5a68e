"""`fullrank estimate`: numbers of the library, in words and in JSON."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullrank.designs import Design, Uniform
from fullrank.inference import bounds, estimate
from fullrank.samples import RankSample, simulate

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

N = 5_000
TRUE = np.random.default_rng(0).integers(1, 71, 800) ** 2
SIZES = ("--sample-size", "100", "--n-items", "5_000", "--training-items", "excluded")
WITHOUT = (
    "Sampling without replacement is assumed. If an item could be drawn twice, give "
    "`--design sampled:replacement=true`."
)


@pytest.fixture(scope="module")
def sample() -> RankSample:
    return simulate(TRUE, n_items=N, design="sampled:100,excluded=true", rng=0)


@pytest.fixture
def ranks(tmp_path: Path, sample: RankSample) -> Path:
    assert sample.rows is not None
    path = tmp_path / "ranks.csv"
    lines = [f"u{u},{r}" for u, r in enumerate(sample.rows.rank)]
    path.write_text("user,rank\n" + "\n".join(lines) + "\n")
    return path


def two_models(path: Path, sample: RankSample) -> Path:
    assert sample.rows is not None
    rank = np.concatenate([sample.rows.rank, np.minimum(sample.rows.rank + 1, 100)])
    model = np.repeat(["a", "[bold]b"], TRUE.size)
    columns = {"rank": rank, "model": model, "user": np.tile(np.arange(TRUE.size), 2)}
    columns |= {"sample_size": np.full(rank.size, 100), "n_items": np.full(rank.size, N)}
    pq.write_table(pa.table(columns), path)
    return path


def test_json_of_one_model(fullrank: Any, ranks: Path, sample: RankSample) -> None:
    done = fullrank("estimate", ranks, *SIZES, "-m", "recall@10", "-m", "recall@500", "--json")
    assert (done.code, done.err) == (0, "")
    begins = '{"format": 1, "kind": "Estimates", "metrics": [{"metric": "recall@10", "naive": '
    assert done.out.startswith(begins)
    content = json.loads(done.out)
    assert list(content["metrics"][0])[:5] == ["metric", "naive", "estimate", "low", "high"]
    expected = estimate(sample, metrics=["recall@10", "recall@500"])
    for entry in content["metrics"]:
        name = entry["metric"]
        assert entry["estimate"] == pytest.approx(expected.values[name])
        assert entry["low"] == pytest.approx(expected.confidence_interval[name].low)
    assert content["metrics"][0]["naive"] == pytest.approx(sample.naive("recall@10"))
    assert content["metrics"][1]["naive"] is None  # everything is in the top 500 of 100
    assert content["model"] == "ranks"
    assert content["assumed"] == [WITHOUT]


def test_json_of_several_models(fullrank: Any, tmp_path: Path, sample: RankSample) -> None:
    done = fullrank("estimate", two_models(tmp_path / "two.parquet", sample), "--json")
    content = json.loads(done.out)
    assert list(content)[:2] == ["format", "kind"]
    assert [one["model"] for one in content["models"]] == ["[bold]b", "a"]
    for one in content["models"]:
        assert next(iter(one)) == "metrics"
        assert list(one["metrics"][0])[:5] == ["metric", "naive", "estimate", "low", "high"]


def test_text(fullrank: Any, ranks: Path) -> None:
    done = fullrank("estimate", ranks, *SIZES, "-m", "recall@10,recall@500", "--bounds")
    assert done.code == 0
    lines = done.out.splitlines()
    assert (
        "targets ranked among 100 of 5,000 items, target included (without replacement" in lines[0]
    )
    assert lines[1] == WITHOUT
    assert "bounds" in lines[3]
    assert lines[4].startswith("recall@10 ")
    assert lines[4].endswith("▲")
    assert lines[5].split()[1] == "–"
    assert not lines[5].endswith("▲")
    assert any(
        line.startswith("recall@10 among 100 candidates corresponds to about recall@")
        for line in lines
    )
    assert any(line.startswith("▲ ") and "rank 1" in line for line in lines)
    typed = "--sample-size 100 --n-items 5_000 --training-items excluded"
    assert lines[-1].endswith(f"--margin 5% --pilot {ranks} {typed}")


def test_the_command_prints_what_python_prints(
    fullrank: Any, ranks: Path, sample: RankSample
) -> None:
    """The same table, marks and lines; the command adds what it assumed and what to type next."""
    assumed = WITHOUT
    metrics = ["recall@10", "recall@200", "ndcg"]
    found = estimate(sample, metrics=metrics)
    done = fullrank("estimate", ranks, *SIZES, "-m", ",".join(metrics))
    lines = done.out.splitlines()
    assert lines[1] == assumed
    assert "\n".join([lines[0], *lines[2:-1]]) == str(found)
    bounded = fullrank("estimate", ranks, *SIZES, "-m", ",".join(metrics), "--bounds")
    assert str(found.with_bounds()).partition("\n")[2] in bounded.out


def test_the_command_prints_several_models_as_python_does(
    fullrank: Any, tmp_path: Path, sample: RankSample
) -> None:
    from fullrank.samples.read_ranks import read_ranks

    path = two_models(tmp_path / "two.parquet", sample)
    read = read_ranks(path, design="sampled:replacement=true", excluded=True)
    found = estimate(read.samples, metrics=["recall@10", "recall@200"])
    how = ("estimate", path, "--design", "sampled:replacement=true", "--training-items", "excluded")
    done = fullrank(*how, "-m", "recall@10,recall@200")
    assert done.out == f"{found}\n"
    assert list(found) == ["[bold]b", "a"]
    assert found.to_frame()["model"].tolist() == ["[bold]b"] * 2 + ["a"] * 2
    assert found.to_latex().count("recall@10") == 1
    content = json.loads(fullrank(*how, "--json").out)
    assert content == json.loads(json.dumps(estimate(read.samples).to_dict()))


def test_the_plan_that_is_offered_can_be_run(fullrank: Any, ranks: Path) -> None:
    offered = fullrank("estimate", ranks, *SIZES, "--design", "sampled:100").out.splitlines()[-1]
    words = offered.partition("fullrank plan ")[2].split()
    assert words[-4:] == ["--training-items", "excluded", "--design", "sampled:100"]
    done = fullrank("plan", *words, "--try", "exact", "--try", "sampled:100")
    assert done.code == 0
    assert "recommended" in done.out


def test_bounds_are_added(fullrank: Any, ranks: Path, sample: RankSample) -> None:
    done = fullrank("estimate", ranks, *SIZES, "-m", "recall@10", "--bounds", "--json")
    (entry,) = json.loads(done.out)["metrics"]
    expected = bounds(sample, "recall@10")["recall@10"]
    assert (entry["bound_low"], entry["bound_high"]) == pytest.approx(tuple(expected))


def test_models_are_told_apart_and_their_names_are_text(
    fullrank: Any, tmp_path: Path, sample: RankSample
) -> None:
    done = fullrank("estimate", two_models(tmp_path / "two.parquet", sample), "-m", "recall@10")
    assert done.code == 0
    body = [
        line.split()[0] for line in done.out.splitlines() if "recall@10 " in line and "…" in line
    ]
    assert body == ["[bold]b", "a"]
    assert "a: ▲" in done.out


def test_adaptive_is_noticed(fullrank: Any, tmp_path: Path) -> None:
    adaptive = simulate(TRUE, n_items=N, design="adaptive:levels=25/50/100", rng=0)
    assert adaptive.rows is not None
    path = tmp_path / "ranks.csv"
    lines = [f"{r},{n}" for r, n in zip(adaptive.rows.rank, adaptive.rows.sample_size, strict=True)]
    path.write_text("position,n\n" + "\n".join(lines) + "\n")
    how = ("--column", "rank=position", "--sample-size", "n", "--n-items", "5,000")
    done = fullrank("estimate", path, *how, "--json", "-m", "recall@50")
    content = json.loads(done.out)
    assert Design.from_dict(content["design"]) == adaptive.design
    assert content["assumed"][1].startswith("An adaptive design with levels 25, 50, 100 is assumed")
    assert content["metrics"][0]["naive"] is None
    expected = estimate(adaptive, metrics="recall@50")
    assert content["metrics"][0]["estimate"] == pytest.approx(expected["recall@50"])
    said = fullrank("estimate", path, *how, "--design", "sampled", "--json")
    assert Design.from_dict(json.loads(said.out)["design"]) == Uniform()
    levels = "adaptive:levels=25/50/75/100"
    finer = fullrank("estimate", path, *how, "--design", levels, "--json")
    assert Design.from_dict(json.loads(finer.out)["design"]) == Design.of(levels)


def test_our_own_file_carries_its_design(fullrank: Any, tmp_path: Path, sample: RankSample) -> None:
    path = tmp_path / "ours.parquet"
    sample.write(path)
    done = fullrank("estimate", path, "--n-items", N, "--json")
    assert json.loads(done.out)["assumed"] == []
    wrong = fullrank("estimate", path, "--n-items", 4_999)
    assert wrong.code == 2
    assert re.search(r"`--n-items`.*agree", wrong.err)


def test_bootstrap_follows_the_seed(fullrank: Any, ranks: Path) -> None:
    words = (*SIZES, "-m", "recall@200", "--method", "mle", "--uncertainty", "bootstrap")

    def low(seed: int) -> float:
        done = fullrank("estimate", ranks, *words, "--resamples", 20, "--json", "--seed", seed)
        return float(json.loads(done.out)["metrics"][0]["low"])

    assert low(1) == low(1)
    assert low(1) != low(2)


def test_several_targets_of_a_user(fullrank: Any, tmp_path: Path) -> None:
    path = tmp_path / "ranks.csv"
    lines = [f"{u},{1 + u % 7 + 9 * t},2,{t}" for u in range(60) for t in (0, 1)]
    path.write_text("user,rank,n_targets,offset\n" + "\n".join(lines) + "\n")
    done = fullrank("estimate", path, *SIZES, "-m", "recall@200", "--json")
    content = json.loads(done.out)
    assert (content["n_targets"], content["n_users"]) == (120, 60)
    assert content["metrics"][0]["low"] is not None
    path.write_text("user,rank\na,1\na,5\nb,2\n")
    again = fullrank("estimate", path, *SIZES)
    assert again.code == 2
    assert re.search(r"The 'user' column.*n_targets.*user a has 2.*`--leave-out user`", again.err)
    alone = fullrank("estimate", path, *SIZES, "--leave-out", "user", "--json")
    assert json.loads(alone.out)["n_users"] == 3


def test_popularity_is_refused(fullrank: Any, ranks: Path) -> None:
    done = fullrank("estimate", ranks, *SIZES, "--design", "popularity")
    assert (done.code, done.out) == (2, "")
    assert re.search(r"`--design`.*popularity.*uniform", done.err)
    assert done.err.count("\n") == 1


def test_trec_run(fullrank: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    run = [f"q{q} Q0 d{d} 0 {rng.normal() + (d == 0)} x" for q in range(200) for d in range(20)]
    (tmp_path / "run.trec").write_text("\n".join(run) + "\n")
    (tmp_path / "qrels.txt").write_text("".join(f"q{q} 0 d0 1\n" for q in range(200)))
    words = ("--qrels", tmp_path / "qrels.txt", "--n-items", 500, "--json", "-m", "recall@50")
    content = json.loads(fullrank("estimate", tmp_path / "run.trec", *words).out)
    assert content["n_targets"] == 200
    assert content["average_size"] == 20
    alone = fullrank("estimate", tmp_path / "run.trec", "--n-items", 500)
    assert alone.code == 2
    assert re.search(r"`--truth`.*run\.trec", alone.err)
    unsaid = fullrank("estimate", tmp_path / "run.trec", "--qrels", tmp_path / "qrels.txt")
    assert re.search(r"`--n-items`.*candidates", unsaid.err)


def test_report(fullrank: Any, tmp_path: Path, sample: RankSample, need: Any) -> None:
    need("jinja2")
    path, page = two_models(tmp_path / "two.parquet", sample), tmp_path / "page.html"
    done = fullrank("estimate", path, "-m", "recall@10", "--report", page)
    assert done.code == 0, done.err
    assert done.out.endswith(f"Report: {page}\n")
    text = page.read_text(encoding="utf-8")
    assert "<html" in text[:2000]
    assert "the confidence interval for the population of users" in text
    words = ("--interval-for", "users", "--uncertainty", "bootstrap", "--resamples", 20)
    done = fullrank("estimate", path, "-m", "recall@500", "--report", page, *words)
    assert done.code == 0, done.err
    text = page.read_text(encoding="utf-8")
    assert "for these users, by bootstrap" in text
    (ends,) = re.findall(r"^a +recall@500 .* (\S+ … \S+)", done.out, re.MULTILINE)
    assert f"<td>{ends}</td>" in text  # the interval that was printed
    assert sorted(one.name for one in tmp_path.iterdir()) == ["page.html", "two.parquet"]


@pytest.mark.slow
def test_ten_million_rows(tmp_path: Path) -> None:
    """Within the memory that was promised; the time is the benchmark's to measure."""
    import subprocess
    import sys

    n = 10_000_000
    rank = np.random.default_rng(0).integers(1, 101, n).astype(np.int32)
    path = tmp_path / "ranks.parquet"
    pq.write_table(pa.table({"rank": rank, "user": np.arange(n)}), path)
    script = (
        "import sys; from fullrank import cli; code = cli.main(); "
        "peak = next(l for l in open('/proc/self/status') if l.startswith('VmHWM')); "
        "print(peak, file=sys.stderr); sys.exit(code)"
    )
    words = ["estimate", str(path), "--sample-size", "100", "--n-items", "1000000", "--json"]
    done = subprocess.run(
        [sys.executable, "-c", script, *words], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["n_targets"] == n
    assert int(done.stderr.split()[1]) < 500 * 1000


def test_a_named_rank_column_wins_over_scores(fullrank: Any, tmp_path: Path) -> None:
    path = tmp_path / "both.csv"
    path.write_text("user,score,label,place\n1,0.5,1,3\n2,0.5,1,7\n")
    done = fullrank("estimate", path, *SIZES, "--column", "rank=place", "-m", "recall@5", "--json")
    assert json.loads(done.out)["metrics"][0]["naive"] == 0.5


def test_names_cannot_reach_the_terminal(fullrank: Any, tmp_path: Path) -> None:
    path = tmp_path / "hostile.csv"
    path.write_text('model,rank\n"\x1b[31mred\nline",3\nplain,4\n')
    done = fullrank("estimate", path, *SIZES)
    assert "\n\\x1b[31mred\\nline  recall@10" in done.out
    assert "\x1b" not in done.out
    content = json.loads(fullrank("estimate", path, *SIZES, "--json").out)
    assert [one["model"] for one in content["models"]] == ["\\x1b[31mred\\nline", "plain"]


def test_a_model_is_not_lost_to_the_name_of_the_file(fullrank: Any, tmp_path: Path) -> None:
    path = tmp_path / "twice.csv"
    path.write_text("model,rank\n,3\ntwice,4\n")
    done = fullrank("estimate", path, *SIZES)
    assert (done.code, done.out) == (2, "")
    assert re.search(rf"The 'model' column.*{path}", done.err)


def test_models_that_were_measured_differently(fullrank: Any, tmp_path: Path) -> None:
    path = tmp_path / "uneven.csv"
    path.write_text("model,rank\na,3\na,5\nb,4\n")
    for command in ("estimate", "bounds"):
        out = fullrank(command, path, *SIZES).out
        assert "a: 2 targets ranked among 100 of 5,000 items, target included" in out
        assert "b: 1 target" in out


def test_a_contradicted_design_is_told_first(fullrank: Any, tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text("rank\n" + "50\n" * 3000)
    done = fullrank("estimate", path, *SIZES, "--bounds", "-m", "recall@10")
    table, lines = done.out.split("\n\n")[1:3]
    assert table.splitlines()[1].endswith("– ▲")
    assert lines.startswith("▲ The data contradict the design: ")


def test_a_report_does_not_replace_the_ranks(fullrank: Any, ranks: Path) -> None:
    before = ranks.read_bytes()
    done = fullrank("estimate", ranks, *SIZES, "--report", ranks)
    assert (done.code, done.out) == (2, "")
    assert re.search(rf"`--report`.*{ranks}", done.err)
    assert ranks.read_bytes() == before

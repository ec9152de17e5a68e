import json
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from fullrank import estimate
from fullrank.designs import Uniform
from fullrank.errors import InputError
from fullrank.inference.comparison.aligned import align
from fullrank.inference.comparison.compare import best, compare, paired_rows, unpaired_rows
from fullrank.inference.comparison.numbers import shown_chance
from fullrank.inference.estimation.influence import SHARED_BIAS, pseudo_values
from fullrank.inference.statistics.hypothesis_tests import TESTS, holm
from fullrank.inference.statistics.proportions import two_proportions
from fullrank.metrics import parse
from fullrank.ranking import rank, sample_ranks
from fullrank.samples import ExactRanks, RankSample, Seeds, simulate
from fullrank.scorers import FactorScorer

N = 200
RANDOM = np.random.default_rng(11)
USERS = np.arange(600)
RANKS = {
    "a": np.minimum(N, 1 + RANDOM.geometric(0.03, 600)),
    "b": np.minimum(N, 1 + RANDOM.geometric(0.02, 600)),
    "c": np.minimum(N, 1 + RANDOM.geometric(0.02, 600)),
}


def exact(ranks: np.ndarray, users: np.ndarray = USERS, weight: np.ndarray | None = None):
    return ExactRanks.from_ranks(ranks, n_items=N, user=users, item=0 * users, weight=weight)


EXACT = {name: exact(ranks) for name, ranks in RANKS.items()}


def fixed(size: int = 40, **settings) -> dict[str, RankSample]:
    return {
        name: simulate(ranks, n_items=N, design=Uniform(size), user=USERS, rng=i, **settings)
        for i, (name, ranks) in enumerate(RANKS.items())
    }


def test_exact_ranks_are_compared_user_by_user() -> None:
    found = compare(EXACT, ["ndcg@10", "recall@20"])
    assert found.paired
    assert found.n_users == (600, 600, 600)
    assert [(one.first, one.second, one.metric) for one in found.differences] == [
        (*pair, metric) for pair in combinations("abc", 2) for metric in ("ndcg@10", "recall@20")
    ]
    values = {name: parse("ndcg@10").weights(ranks, N) for name, ranks in RANKS.items()}
    one = found.between("a", "c", "ndcg@10")
    expected = stats.ttest_rel(values["a"], values["c"])
    assert one.estimate == pytest.approx(values["a"].mean() - values["c"].mean())
    assert one.p_value == pytest.approx(expected.pvalue)
    assert one.confidence_interval == pytest.approx(expected.confidence_interval(0.95))
    d = values["a"] - values["c"]
    assert one.effect_size == pytest.approx(d.mean() / d.std(ddof=1))
    assert found.estimate[:, 0] == pytest.approx([value.mean() for value in values.values()])
    assert found.standard_error[:, 0] == pytest.approx([stats.sem(v) for v in values.values()])


def test_p_values_are_corrected_over_models_and_metrics() -> None:
    found = compare(EXACT, ["ndcg@10", "recall@5", "recall@20"])
    p = [one.p_value for one in found.differences]
    assert [one.corrected_p for one in found.differences] == pytest.approx(holm(p))
    plain = compare(EXACT, ["ndcg@10", "recall@5", "recall@20"], correction=None)
    assert [one.corrected_p for one in plain.differences] == p
    # the call follows the corrected p
    for one in found.differences:
        ahead = one.first if one.estimate > 0 else one.second
        assert one.better == (ahead if one.corrected_p < 0.05 else None)
    assert {one.better for one in found.differences} == {"a", None}


def test_a_baseline_is_compared_with_everybody() -> None:
    found = compare(EXACT, "ndcg@10", baseline="b")
    assert [(one.first, one.second) for one in found.differences] == [("a", "b"), ("c", "b")]
    assert found.between("b", "a", "ndcg@10") == found.differences[0].flipped
    with pytest.raises(InputError, match=r"'a' and 'c'"):
        found.between("a", "c", "ndcg@10")


def test_flipping_turns_every_sign() -> None:
    one = compare(EXACT, "ndcg@10").between("a", "b", "ndcg@10")
    back = one.flipped
    assert (back.first, back.second, back.estimate) == ("b", "a", -one.estimate)
    assert back.confidence_interval == (-one.confidence_interval.high, -one.confidence_interval.low)
    assert back.effect_size == -one.effect_size
    assert back.better == one.better == "a"


def test_users_in_common_are_compared_and_the_others_left_out() -> None:
    fewer = exact(RANKS["b"][100:], USERS[100:])
    found = compare({"a": EXACT["a"], "b": fewer}, "ndcg@10")
    assert found.n_users == (500, 500)
    assert found.notes == (
        "500 user–item pairs are in every result; the others are left out (a has 100 more).",
    )
    same = compare({"a": exact(RANKS["a"][100:], USERS[100:]), "b": fewer}, "ndcg@10")
    assert found.differences == same.differences
    assert same.notes == ()


def test_the_order_of_users_does_not_matter() -> None:
    order = RANDOM.permutation(600)
    shuffled = exact(RANKS["b"][order], USERS[order])
    one, two = compare(EXACT, "ndcg@10"), compare(EXACT | {"b": shuffled}, "ndcg@10")
    for x, y in zip(one.differences, two.differences, strict=True):
        assert x.p_value == pytest.approx(y.p_value)
    sample = fixed()
    rows = sample["b"].rows
    mixed = RankSample.from_ranks(
        rows.rank[order], sample_size=40, n_items=N, user=rows.user[order]
    )
    one, two = (compare(s, "ndcg@10", rng=0) for s in (sample, sample | {"b": mixed}))
    assert one.between("a", "b", "ndcg@10").standard_error == pytest.approx(
        two.between("a", "b", "ndcg@10").standard_error, rel=1e-6
    )


def test_samples_of_common_users_are_fitted_anew() -> None:
    sample = fixed()
    rows = sample["a"].rows
    part = RankSample.from_ranks(rows.rank[:400], sample_size=40, n_items=N, user=USERS[:400])
    found = compare({"a": sample["a"], "b": part}, "recall@20", method="MLE", rng=0)
    alike = compare({"a": part, "b": part}, "recall@20", method="MLE", rng=0)
    assert found.n_users == (400, 400)
    assert found.estimate[0, 0] == pytest.approx(alike.estimate[0, 0])
    assert found.differences[0].estimate == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("test", ["t", "z"])
def test_different_users_take_two_samples(test: str) -> None:
    a, b = exact(RANKS["a"][:250], USERS[:250]), exact(RANKS["b"][250:], USERS[250:])
    found = compare({"a": a, "b": b}, ["ndcg@10", "recall@20"], test=test)
    assert not found.paired
    assert found.notes == (
        "The users are not paired, because no user is in more than one result (a: 250 users, "
        "b: 350 users).",
    )
    assert str(found).startswith("250 and 350 users, unpaired two-sample ")
    x, y = parse("ndcg@10").weights(a.ranks, N), parse("ndcg@10").weights(b.ranks, N)
    one = found.between("a", "b", "ndcg@10")
    expected = stats.ttest_ind(x, y, equal_var=False)
    p = expected.pvalue if test == "t" else 2 * stats.norm.sf(abs(expected.statistic))
    assert one.p_value == pytest.approx(p)
    pooled = np.sqrt((x.var(ddof=1) + y.var(ddof=1)) / 2)
    assert one.effect_size == pytest.approx((x.mean() - y.mean()) / pooled)
    if test == "z":  # hits: the two-proportion test
        hits = [int((one.ranks <= 20).sum()) for one in (a, b)]
        shares = two_proportions(hits[0], 250, hits[1], 350)
        assert found.between("a", "b", "recall@20").p_value == shares.p_value


def test_pairing_can_be_insisted_on_or_left() -> None:
    a, b = exact(RANKS["a"][:250], USERS[:250]), exact(RANKS["b"][250:], USERS[250:])
    with pytest.raises(InputError, match=r"`paired=True` must not.*a: 250 users, b: 350"):
        compare({"a": a, "b": b}, "ndcg@10", paired=True)
    left = compare(EXACT, "ndcg@10", paired=False)
    assert str(left).startswith("600, 600 and 600 users, unpaired two-sample")
    assert left.notes[0] == (
        "The users are not paired, as requested (a: 600 users, b: 600 users, c: 600 users)."
    )
    assert not left.paired


def test_rows_without_names_are_paired_only_where_the_caller_says_so() -> None:
    values = {name: {"ndcg@10": parse("ndcg@10").weights(r, N)} for name, r in RANKS.items()}
    apart = compare(values, "ndcg@10")
    assert not apart.paired
    assert "have no ids" in apart.notes[0]
    found = compare(values, "ndcg@10", paired=True)
    assert found.notes == (
        "The users have no ids, so row i of every model is assumed to be the same user.",
    )
    unnamed = {
        name: simulate(RANKS[name], n_items=N, design="sampled:40", rng=0) for name in ("a", "b")
    }
    assert not compare(unnamed, "ndcg@10").paired
    with pytest.raises(InputError, match=r"`paired=True` must not.*`user=`"):
        compare(unnamed, "ndcg@10", paired=True)
    for one, two in zip(found.differences, compare(EXACT, "ndcg@10").differences, strict=True):
        assert one.p_value == pytest.approx(two.p_value)
    shorter = values | {"c": {"ndcg@10": values["c"]["ndcg@10"][:500]}}
    assert not compare(shorter, "ndcg@10").paired


def test_values_at_hand_can_be_given() -> None:
    at_hand = {name: pseudo_values(one, "recall@20, ndcg@10") for name, one in EXACT.items()}
    found = compare(at_hand | {"c": EXACT["c"]}, "ndcg@10", rng=0)
    assert found.differences == compare(EXACT, "ndcg@10", rng=0).differences
    part = exact(RANKS["c"][100:], USERS[100:])
    fewer = compare(at_hand | {"c": part}, "ndcg@10", rng=0)
    assert fewer.differences == compare(EXACT | {"c": part}, "ndcg@10", rng=0).differences
    with pytest.raises(InputError, match=r"`ranks`.*ndcg@5.*a has recall@20, ndcg@10"):
        compare(at_hand, "ndcg@5")


def test_weights_come_from_the_results() -> None:
    w = np.tile([1.0, 3.0], 300)
    found = compare({n: exact(r, weight=w) for n, r in RANKS.items()}, "recall@20")
    assert found.estimate[0, 0] == pytest.approx(np.average(RANKS["a"] <= 20, weights=w))


@pytest.mark.parametrize("kind", ["exact", "sampled", "values"])
def test_users_without_weight_count_for_nothing(kind: str) -> None:
    w = np.where(USERS < 100, 0.0, 1.0)

    def results(at: slice) -> dict:
        if kind == "exact":
            return {n: exact(r[at], USERS[at], w[at]) for n, r in RANKS.items()}
        if kind == "values":
            return {
                n: {"user": USERS[at], "ndcg@10": 1.0 / r[at], "weight": w[at]}
                for n, r in RANKS.items()
            }
        rows = {n: one.rows.rank for n, one in fixed().items()}
        return {
            n: RankSample.from_ranks(r[at], sample_size=40, n_items=N, user=USERS[at], weight=w[at])
            for n, r in rows.items()
        }

    for test in ("t", "bootstrap"):
        found, fewer = (
            compare(results(at), "ndcg@10", test=test, n_resamples=50, rng=0)
            for at in (slice(None), slice(100, None))
        )
        assert found.n_users == (500, 500, 500)
        assert found.differences == fewer.differences
        assert (found.p_best == fewer.p_best).all()
        assert found.estimate == pytest.approx(fewer.estimate)


def test_targets_of_users_without_weight_are_left_out_together() -> None:
    users = np.repeat(np.arange(300), 2)
    weight = np.where(users < 50, 0.0, 1.0)
    two = {"n_targets": np.full(600, 2), "offset": np.tile([0, 1], 300)}
    results = {
        name: ExactRanks.from_ranks(
            RANKS[name] + 1, n_items=N + 2, user=users, item=np.tile([0, 1], 300), weight=weight,
            **two,
        )
        for name in "ab"
    }  # fmt: skip
    found = compare(results, "recall@20")
    assert found.n_users == (250, 250)
    for i, name in enumerate("ab"):
        assert found.estimate[i, 0] == pytest.approx(
            results[name].metrics("recall@20")["recall@20"]
        )


def test_few_common_users_are_paired_where_asked_or_where_they_are_all() -> None:
    a, b = exact(RANKS["a"][:310], USERS[:310]), exact(RANKS["b"][300:], USERS[300:])
    assert compare({"a": a, "b": b}, "ndcg@10", paired=True).n_users == (10, 10)
    assert compare({"a": a, "b": b}, "ndcg@10", paired=False).n_users == (310, 300)
    pilot = exact(RANKS["b"][:10], USERS[:10])  # all of its users are in the other
    assert compare({"a": a, "b": pilot}, "ndcg@10").n_users == (10, 10)


def test_different_candidates_are_pointed_out() -> None:
    sizes = np.where(USERS < 4, N, N + 50)
    other = replace(EXACT["b"], candidates=sizes)
    found = compare({"a": EXACT["a"], "b": other}, "ndcg@10")
    assert found.notes == (
        "a and b have different numbers of candidates for 596 of 600 users (user 4: 200 and 250).",
    )
    assert compare({"a": other, "b": other}, "ndcg@10").notes == ()
    wide = {
        n: simulate(RANKS[n], n_items=m, design="sampled:40", user=USERS, rng=0)
        for n, m in (("a", N), ("b", 300))
    }
    assert compare(wide, "recall@20", method="MLE", rng=0).notes[0] == (
        "a and b have different numbers of candidates for 600 of 600 users (user 0: 200 and 300)."
    )
    assert compare(wide, "recall@20", method="MLE", paired=False, rng=0).notes[1] == (
        "a and b have different numbers of candidates (200 and 300)."
    )


@pytest.mark.parametrize("test", ["t", "z", "bootstrap", "randomization"])
def test_smoothing_bias_widens_every_error(test: str) -> None:
    aligned = align(EXACT, "ndcg@10", method="auto", paired=None, settings={})
    biased = replace(aligned, bias_square=np.array([[0.02**2], [0.03**2], [0.0]]))
    pairs = [(0, 1), (0, 2)]
    plain, wide = (
        paired_rows(one, pairs, test, 0.95, 2000, np.random.default_rng(0))
        for one in (aligned, biased)
    )
    for before, after, extra in zip(plain, wide, (0.02**2 + 0.03**2, 0.02**2), strict=True):
        assert after["standard_error"] ** 2 == pytest.approx(before["standard_error"] ** 2 + extra)
        low, high = after["confidence_interval"]
        half = 1.96 * after["standard_error"]
        assert (high - low) / 2 == pytest.approx(half, rel=0.1)
        assert after["p_value"] > before["p_value"]
        assert after["effect_size"] == before["effect_size"]
    for resampled in (False, True):
        _, error, probability = best(
            biased, resampled=resampled, n_draws=4000, rng=np.random.default_rng(0)
        )
        _, less, sure = best(
            aligned, resampled=resampled, n_draws=4000, rng=np.random.default_rng(0)
        )
        assert error**2 == pytest.approx(less**2 + biased.bias_square)
        assert probability[0, 0] < sure[0, 0]


@pytest.mark.parametrize("resampled", [False, True])
def test_models_of_one_design_share_most_of_their_bias(resampled: bool) -> None:
    samples = fixed()
    kept = align(samples, "ndcg@10", method="smoothed", paired=None, settings={})
    assert kept.shared_bias == SHARED_BIAS
    a, b = np.sqrt(kept.bias_square[:2, 0])
    left = a**2 + b**2 - 2.0 * SHARED_BIAS * a * b
    assert kept.bias_of_difference(0, 1) == pytest.approx([left])
    covariance = kept.bias_covariance(0)
    assert covariance[0, 0] + covariance[1, 1] - 2.0 * covariance[0, 1] == pytest.approx(left)
    wide = replace(kept, bias_square=400.0 * kept.bias_square)  # or all is sure either way
    alone = replace(wide, shared_bias=0.0)
    (_, error, sure), (_, as_large, less) = (
        best(one, resampled=resampled, n_draws=20_000, rng=np.random.default_rng(0))
        for one in (wide, alone)
    )
    assert error == pytest.approx(as_large)
    assert sure.max() > less.max()


def test_other_designs_and_users_share_no_bias() -> None:
    mixed = {"fixed": fixed()["a"], "adaptive": adaptive()["b"]}
    for results, paired in ((mixed, None), (fixed(), False)):
        found = align(results, "ndcg@10", method="auto", paired=paired, settings={})
        assert found.shared_bias == 0.0


def test_smoothing_bias_widens_errors_between_different_users() -> None:
    aligned = align(EXACT, "ndcg@10", method="auto", paired=False, settings={})
    biased = replace(aligned, bias_square=np.array([[0.02**2], [0.03**2], [0.0]]))
    (before,), (after,) = (unpaired_rows(one, [(0, 1)], "t", 0.95) for one in (aligned, biased))
    assert after["standard_error"] ** 2 == pytest.approx(
        before["standard_error"] ** 2 + 0.02**2 + 0.03**2
    )


@pytest.mark.parametrize("test", TESTS)
def test_every_test_compares(test: str) -> None:
    found = compare(EXACT, "ndcg@10", test=test, n_resamples=200, rng=0)
    one = found.between("a", "b", "ndcg@10")
    assert one.p_value < 0.05
    assert one.better == "a"
    assert 0.9 < found.p_best[0, 0] <= 1.0
    caution = [note for note in found.notes if "does not test the mean" in note]
    assert len(caution) == (test in ("sign", "wilcoxon"))


def test_few_resamples_for_many_tests_are_pointed_out() -> None:
    found = compare(EXACT, "ndcg@10", test="randomization", n_resamples=99, rng=0)
    assert found.notes[-1] == (
        "With 99 resamples, no p value can be below 0.01, which is too coarse for 3 tests. "
        "Increase `n_resamples`."
    )
    pair = {name: EXACT[name] for name in "ab"}
    found = compare(pair, "ndcg@10", test="randomization", n_resamples=99 // 2, rng=0)
    assert "too coarse for 1 test. " in found.notes[-1]


def test_few_hits_are_pointed_out() -> None:
    few = {name: exact(np.where(USERS < 20, 1, N)) for name in "ab"}
    found = compare(few, ["recall@10", "auc"])
    assert found.notes == (
        "Fewer than 30 users have a value above 0 (recall@10 of a, auc of a, recall@10 of b, "
        "auc of b); the intervals may be too narrow.",
    )
    assert all(one.p_value == 1.0 and one.better is None for one in found.differences)


def test_samples_and_exact_ranks_meet() -> None:
    adaptive = simulate(
        RANKS["b"], n_items=N, design="adaptive:levels=10/20/40/80", user=USERS, rng=0
    )
    with pytest.raises(InputError, match=r"`ranks`.*item ids.*adaptive"):
        compare({"exact": EXACT["a"], "adaptive": adaptive}, "recall@20")
    bare = replace(EXACT["a"], item=None)
    results = {"exact": bare, "fixed": fixed()["c"], "adaptive": adaptive}
    found = compare(results, ["recall@20", "ndcg@20"], rng=0)
    assert found.methods[0] == "exact"
    assert found.notes[0].startswith(
        "The estimator differs between the models: exact (exact), fixed ("
    )
    truth = {n: (RANKS[m] <= 20).mean() for n, m in zip(results, "acb", strict=True)}
    for one in found.differences:
        if one.metric == "recall@20":
            off = one.estimate - (truth[one.first] - truth[one.second])
            assert abs(off) < 4 * one.standard_error
    # what is estimated is less sure than what is known
    known = compare({"exact": EXACT["a"], "adaptive": EXACT["b"]}, "recall@20")
    assert found.between("exact", "adaptive", "recall@20").standard_error > (
        known.differences[0].standard_error
    )


def test_several_targets_are_summed_by_user() -> None:
    random = np.random.default_rng(0)
    items = random.normal(size=(30, 4))
    targets = (np.repeat(np.arange(40), 2), np.tile([3, 9], 40))
    results = {
        name: rank(FactorScorer(random.normal(size=(40, 4)), items), targets, ties="random", rng=0)
        for name in "ab"
    }
    found = compare(results, "recall@10, ndcg@10")
    assert found.n_users == (40, 40)
    for i, one in enumerate(results.values()):
        for j, value in enumerate(one.metrics("recall@10, ndcg@10").values()):
            assert found.estimate[i, j] == pytest.approx(value)


def test_targets_of_a_user_are_sampled_and_compared_together() -> None:
    random = np.random.default_rng(0)
    items, users = random.normal(size=(150, 6)), random.normal(size=(500, 6))
    liked = np.argsort(-(users @ items.T + random.normal(0, 3, (500, 150))), axis=1)[:, :2]
    targets = (np.repeat(np.arange(500), 2), liked.ravel())
    worse = users + random.normal(0, 0.7, users.shape)
    scorers = {"good": FactorScorer(users, items), "bad": FactorScorer(worse, items)}
    metrics = ["recall@20", "hit_rate@10"]
    known = compare(
        {n: rank(s, targets, ties="random", rng=0) for n, s in scorers.items()}, metrics
    )
    sampled = {n: sample_ranks(s, targets, design="sampled:50", rng=0) for n, s in scorers.items()}
    found = compare(sampled, metrics, method="MLE", rng=0)
    assert found.n_users == (500, 500)
    for one, exact_one in zip(found.differences, known.differences, strict=True):
        assert abs(one.estimate - exact_one.estimate) < 4 * one.standard_error
        assert exact_one.standard_error < one.standard_error < 4 * exact_one.standard_error
        assert one.better == exact_one.better == "good"


def several() -> dict[str, RankSample]:
    random = np.random.default_rng(0)
    items, users = random.normal(size=(150, 6)), random.normal(size=(300, 6))
    liked = np.column_stack([np.zeros(300, np.int64), random.integers(1, 150, 300)])
    targets = (np.repeat(np.arange(300), 2), liked.ravel())
    return {
        name: sample_ranks(FactorScorer(one, items), targets, design="sampled:50", rng=0)
        for name, one in (("a", users), ("b", users + random.normal(0, 0.7, users.shape)))
    }


def own_catalogues() -> dict[str, RankSample]:
    sizes = np.where(USERS % 2 == 0, N, N // 2)
    return {
        name: RankSample.from_ranks(
            np.minimum(one.rows.rank, 20), sample_size=20, n_items=sizes, user=USERS
        )
        for name, one in fixed().items()
    }


def adaptive() -> dict[str, RankSample]:
    return {
        name: simulate(ranks, n_items=N, design="adaptive:levels=10/20/40/80", user=USERS, rng=0)
        for name, ranks in RANKS.items()
    }


@pytest.mark.parametrize("samples", [fixed, adaptive, several, own_catalogues])
@pytest.mark.parametrize("method", ["auto", "MLE", "CLS"])
def test_there_is_one_value_of_a_metric(samples: Callable, method: str) -> None:
    given, metrics = samples(), ("recall@20", "ndcg@20", "auc")
    found = compare(given, metrics, method=method, rng=0)
    for at, one in enumerate(given.values()):
        alone = estimate(one, metrics=metrics, method=method)
        values = list(alone.values.values())
        assert found.estimate[at].tolist() == values
        pseudo = pseudo_values(one, metrics, method=method)
        assert pseudo.estimate.tolist() == values
        mean = np.average(pseudo.values, axis=0, weights=pseudo.weight)
        assert mean == pytest.approx(values, rel=1e-12)
        # the errors of both are of users drawn again, with n - 1 and without
        errors = list(alone.standard_error.values())
        assert found.standard_error[at] == pytest.approx(errors, rel=5e-3)
    for one in found.differences:
        first, second = (found.models.index(x) for x in (one.first, one.second))
        column = found.metrics.index(one.metric)
        difference = found.estimate[first, column] - found.estimate[second, column]
        assert one.estimate == pytest.approx(difference, abs=1e-12)


def test_what_the_naive_metric_would_have_named() -> None:
    # Rendle's example: A is best among 99 sampled items, C on the whole catalogue
    lists = {"A": [100] * 5, "C": [212, 2, 743, 5342, 1548]}
    ranks = {name: np.repeat(one, 400) for name, one in lists.items()}
    samples = {
        name: simulate(one, n_items=10_000, design="sampled:100", user=np.arange(2000), rng=0)
        for name, one in ranks.items()
    }
    found = compare(samples, "recall@10", method="MLE", iterations=400, rng=0)
    assert found.best("recall@10") == "C"
    assert found.naive_best == {"recall@10": "A"}
    assert found.notes[-1] == "The naive recall@10 would have picked A."
    naive = compare(samples, "recall@10", method="naive", rng=0)
    assert naive.best("recall@10") == "A"
    assert naive.estimate[:, 0] == pytest.approx(
        [one.naive("recall@10") for one in samples.values()]
    )
    assert naive.notes[0].startswith(
        "This is not a valid comparison: among 100 of 10,000 items, recall@10 may order the models "
        "differently from the exact metrics (Rendle 2019)."
    )
    # the full curves cross at K = 2, far below what 100 of 10,000 items show: sampled they do not
    assert naive.dominance["A", "C"].verdict == "first"
    assert naive.notes[1].startswith(
        "Sampled recall is never lower, and at some k significantly higher, for A than for C. If "
    )
    assert naive.notes[1].endswith("The sample cannot show a crossing below about K = 100.")
    assert not any("would have picked" in note for note in naive.notes)


def test_no_naive_metric_names_a_model_where_models_tie_or_nothing_was_sampled() -> None:
    found = compare(fixed(40), ["recall@10", "recall@40"], rng=0)
    assert set(found.naive_best) == {"recall@10"}  # every target is among the first 40 of 40
    assert not any("naive recall@40" in note for note in found.notes)
    assert compare(fixed(N), "recall@10", rng=0).naive_best == {}


def test_a_crossing_rules_dominance_out() -> None:
    wide = np.where(RANDOM.random(600) < 0.5, 1 + RANKS["b"] // 20, N - RANKS["b"] // 20)
    samples = {
        name: simulate(one, n_items=N, design="sampled:40", user=USERS, rng=0)
        for name, one in (("wide", wide), ("b", RANKS["b"]))
    }
    found = compare(samples, "recall@10", method="naive", rng=0)
    curve = found.dominance["wide", "b"]
    assert curve.verdict == "crossing"
    assert found.notes[1] == (
        f"wide and b: their sampled recall curves cross (wide above at k = {curve.above[0]}, b at "
        f"k = {curve.below[0]}), so neither dominates in the full catalogue and their order "
        "depends on K (Li et al. 2020, Theorem 2.1)."
    )


def test_dominance_is_pointed_out() -> None:
    better = np.maximum(1, RANKS["b"] - 20)
    ranks = {"b": RANKS["b"], "better": better, "again": RANKS["b"]}
    samples = {
        name: simulate(one, n_items=N, design="sampled:20", user=USERS, rng=i)
        for i, (name, one) in enumerate(ranks.items())
    }
    found = compare(samples, "recall@2", method="naive", rng=0)
    assert found.dominance["b", "better"].verdict == "second"
    assert found.notes[1] == (
        "Sampled recall is never lower, and at some k significantly higher, for better than for b, "
        "for better than for again. If full-catalogue recall is never lower either, sampled "
        "metrics name the better model (Li et al. 2020, Theorem 2.1). The sample cannot show a "
        "crossing below about K = 10."
    )
    assert found.notes[2] == (
        "The data do not show that either sampled recall curve dominates the other: b and again."
    )


def test_naive_is_licensed_where_it_is_exact_or_auc() -> None:
    every = {
        name: simulate(r, n_items=N, design=Uniform(N), user=USERS) for name, r in RANKS.items()
    }
    found = compare(every, "ndcg@10", method="naive")
    assert found.notes == ("Every item was drawn, so the sampled metrics are exact.",)
    assert found.estimate == pytest.approx(compare(EXACT, "ndcg@10").estimate)
    found = compare(fixed(), "auc", method="naive", rng=0)
    assert found.notes == (
        "On average, sampled AUC orders models as exact AUC does (Rendle 2019).",
    )


def test_settings_reach_the_estimator() -> None:
    few, many = (
        compare(fixed(), "recall@10", method="MLE", iterations=n, rng=0).estimate for n in (5, 200)
    )
    assert (few != many).any()


def test_a_seed_fixes_the_result() -> None:
    one, two = (compare(EXACT, "ndcg@10", test="bootstrap", rng=3) for _ in range(2))
    assert one.to_dict() == two.to_dict()


SHOWN = compare({"a<b": EXACT["a"], "b_2": EXACT["b"]}, ["ndcg@10", "recall@20"], rng=0)


def test_what_a_result_shows() -> None:
    n, r = (SHOWN.between("a<b", "b_2", metric) for metric in ("ndcg@10", "recall@20"))
    p = [f"P(best) {shown_chance(x)}" for x in SHOWN.p_best[0]]
    q = [shown_chance(x) for x in SHOWN.p_best[1]]
    e, s = SHOWN.estimate, SHOWN.standard_error
    lines = str(SHOWN).splitlines()
    assert lines[0] == "600 users in common, paired t test"
    assert lines[2].split() == ["ndcg@10", "recall@20"]
    assert lines[3] == (
        f"a<b  {e[0, 0]:.4f} (SE {s[0, 0]:.4f})   {p[0]}  {e[0, 1]:.4f} (SE {s[0, 1]:.4f})   {p[1]}"
    )
    assert lines[4] == (
        f"b_2  {e[1, 0]:.4f} (SE {s[1, 0]:.4f})           {q[0]}  {e[1, 1]:.4f} (SE {s[1, 1]:.4f})"
        f"           {q[1]}"
    )
    low, high = n.confidence_interval
    assert lines[6].startswith(
        f"a<b − b_2  ndcg@10    {n.estimate:+.4f} [{low:+.4f}, {high:+.4f}]  p "
    )
    assert lines[7].startswith(f"a<b − b_2  recall@20  {r.estimate:+.4f} [")
    assert "(Holm " in lines[7]
    assert r"| a\<b − b_2 | +" in SHOWN.to_markdown()
    assert r"a$<$b $-$ b\_2 & $+" in SHOWN.to_latex()
    for metric in ("ndcg@10", "recall@20"):  # a table for each
        assert f"Differences between models in {metric} (first" in SHOWN.to_markdown()
    assert "<td>a&lt;b − b_2</td>" in SHOWN._repr_html_()
    content = json.loads(json.dumps(SHOWN.to_dict()))
    assert (content["format"], content["kind"]) == (1, "Comparison")
    assert content["differences"][0]["low"] == n.confidence_interval.low
    assert content["models"][1]["metrics"][1]["p_best"] == SHOWN.p_best[1, 1]
    assert SHOWN.to_arrow().num_rows == 2
    assert "Holm" not in str(compare({"a": EXACT["a"], "b": EXACT["b"]}, "ndcg@10", rng=0))


def test_many_differences_are_cut_short() -> None:
    metrics = [f"recall@{k}" for k in (5, 10, 15, 20, 25)]
    text = str(compare(EXACT, metrics, rng=0)).splitlines()
    assert text[-1] == "… 10 more; `.to_frame()` lists all differences"
    assert not any("[-" in line or ", -" in line for line in text)  # the sign is a minus
    assert len([line for line in text if " − " in line]) == 5


def test_what_pandas_and_matplotlib_show(need) -> None:
    need("pandas"), need("matplotlib")
    assert SHOWN.to_frame()["estimate"].tolist() == [one.estimate for one in SHOWN.differences]
    axes = SHOWN.plot()
    labels = [text.get_text() for text in axes.get_yticklabels()]
    assert labels == ["a<b − b_2, ndcg@10", "a<b − b_2, recall@20"]


COUNTS = RankSample.from_counts([1, 2], [5, 5], sample_size=5, n_items=N)
UNNAMED = simulate(RANKS["a"], n_items=N, design="sampled:40", rng=0)
ADAPTIVE = simulate(RANKS["a"], n_items=N, design="adaptive:levels=10/20", user=USERS, rng=0)
TEXT = simulate(RANKS["a"], n_items=N, design="sampled:40", user=USERS.astype(str), rng=0)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            {"ranks": [EXACT["a"], EXACT["b"]]},
            r"`ranks`.*two models",
        ),
        (
            {"ranks": {"a": EXACT["a"], 2: EXACT["b"]}},
            r"`ranks`.*\b2\b",
        ),
        (
            {"ranks": {"a": EXACT["a"], "b": [1, 2, 3]}},
            r"`n_items`.*ranks\['b'\].*\blist\b.*n_items=.*design=",
        ),
        (
            {"ranks": {"a": EXACT["a"], "b": [1, 2, 3]}, "n_items": 200},
            r"`design`.*ranks\['b'\].*\blist\b.*n_items=.*design=",
        ),
        (
            {"ranks": {"a": EXACT["a"], "b": "b.csv"}},
            r"`ranks\['b'\]`.*RankSample, ExactRanks.*'b\.csv'",
        ),
        (
            {"ranks": {"a": EXACT["a"], "b": COUNTS}},
            r"`ranks`.*\bb\b.*counts",
        ),
        (
            {"ranks": {"a": {"ndcg@10": [0.1, 0.2], "weight": [0, 0]}, "b": EXACT["b"]}},
            r"`ranks\['a'\]\['weight'\]`.*sum.*\b0\b",
        ),
        (
            {"ranks": {"a": EXACT["a"], "b": exact(RANKS["b"], weight=0.0 * USERS)}},
            r"`ranks`.*weights.*\bb\b.*\b0\b",
        ),
        (
            {
                "ranks": {
                    "a": {"ndcg@10": [0.1, 0.2, 0.3], "weight": [0, 1, 1]},
                    "b": {"ndcg@10": [0.1, 0.2, 0.3], "weight": [1, 0, 1]},
                }
            },
            r"`ranks`.*weigh.*a and b",
        ),
        (
            {
                "ranks": {
                    "a": exact(RANKS["a"][:310], USERS[:310]),
                    "b": exact(RANKS["b"][300:], USERS[300:]),
                }
            },
            r"paired.*\b10\b.*a: 310 users, b: 300.*paired=True.*paired=False",
        ),
        (
            {"ranks": {"a": {"ndcg@10": [0.1] * 3}, "b": {"ndcg@10": [0.3] * 4}}},
            r"`ranks`.*variance",
        ),
        (
            {"ranks": {"a": EXACT["a"], "b": UNNAMED}},
            r"`ranks`.*\bb\b.*`user=`",
        ),
        (
            {"ranks": {"a": EXACT["a"], "b": TEXT}},
            r"`ranks`.*numbers.*text",
        ),
        (
            {"ranks": {"a": EXACT["a"], "b": exact(RANKS["b"][:1], USERS[:1])}},
            r"`ranks`.*b has 1\b",
        ),
        (
            {
                "ranks": {
                    "a": exact(RANKS["a"][:300], USERS[:300]),
                    "b": exact(RANKS["b"][200:400], USERS[200:400]),
                    "c": exact(RANKS["c"][350:], USERS[350:]),
                }
            },
            r"`ranks`.*100 between a and b",
        ),
        (
            {"ranks": {"a": EXACT["a"], "b": exact(RANKS["b"], weight=1.0 + USERS)}},
            r"`ranks`.*weigh.*a and b",
        ),
        (
            {"ranks": EXACT, "baseline": "d"},
            r"`baseline`.*'a', 'b', 'c'.*'d'",
        ),
        (
            {"ranks": fixed(), "test": "sign"},
            r'`test`.*"sign"',
        ),
        (
            {
                "ranks": {
                    "a": exact(RANKS["a"][:300], USERS[:300]),
                    "b": exact(RANKS["b"][300:], USERS[300:]),
                },
                "test": "bootstrap",
            },
            r'`test`.*"t".*"z".*"bootstrap".*a: 300 users, b: 300',
        ),
        (
            {"ranks": {"a": fixed()["a"], "b": ADAPTIVE}, "method": "naive"},
            r'`method`.*"naive".*\bb\b.*adaptive',
        ),
        (
            {"ranks": {"a": fixed()["a"], "b": fixed(30)["b"]}, "method": "naive"},
            r'`method`.*"naive".*same catalogue',
        ),
        (
            {"ranks": fixed(), "method": "naive", "iterations": 5},
            r'`iterations`.*method="naive"',
        ),
        (
            {"ranks": {"a": {"ndcg@5": [0.1, 0.2]}, "b": {"ndcg@10": [0.1, 0.2]}}},
            r"`ranks`.*ndcg@10.*a has ndcg@5",
        ),
        (
            {
                "ranks": {
                    "a": {"ndcg@10": [0.1, 0.2], "user": [1, 1]},
                    "b": {"ndcg@10": [0.1, 0.2], "user": [1, 2]},
                }
            },
            r"`ranks`.*\ba\b.*once",
        ),
        (
            {"ranks": EXACT, "correction": "none"},
            r"`correction`.*'holm', 'bonferroni', 'bh'.*'none'",
        ),
    ],
)
def test_errors_say_what_is_wrong(arguments, says: str) -> None:
    with pytest.raises(InputError, match=says):
        compare(**({"metrics": "ndcg@10"} | arguments))


@pytest.mark.parametrize("test", ["sign", "wilcoxon"])
def test_no_model_is_better_that_most_users_are_worse_off_with(test: str) -> None:
    base = np.linspace(0.0, 1.0, 1000)
    few = base - 0.01
    few[::20] += 1.0
    users = np.arange(base.size)
    values = {"few": {"user": users, "ndcg@10": few}, "base": {"user": users, "ndcg@10": base}}
    one = compare(values, "ndcg@10", test=test, rng=0).differences[0]
    assert one.estimate > 0.0
    assert one.p_value < 0.001
    assert one.better is None
    assert compare(values, "ndcg@10", rng=0).differences[0].better == "few"
    found = compare(values | {"few": values["base"], "base": values["few"]}, "ndcg@10", test=test)
    assert found.differences[0].better is None
    most = {"most": {"user": users, "ndcg@10": base + 0.01}, "base": values["base"]}
    assert compare(most, "ndcg@10", test=test).differences[0].better == "most"


def test_one_of_several_metrics_keeps_its_corrected_p() -> None:
    random = np.random.default_rng(4)
    users = np.arange(300)
    first = random.random((300, 3))
    second = first + random.normal(0.01, 0.1, first.shape)
    metrics = ("recall@10", "ndcg@10", "mrr@10")
    values = {
        name: {"user": users} | dict(zip(metrics, columns.T, strict=True))
        for name, columns in (("a", first), ("b", second))
    }
    found = compare(values, metrics, rng=0)["recall@10"]
    one = found.differences[0]
    assert one.corrected_p != one.p_value
    assert f"(Holm {one.corrected_p:.3f})" in str(found)
    assert "p (Holm)" in found.to_markdown()
    alone = compare(values, "ndcg@10", rng=0)
    assert "Holm" not in str(alone) + alone.to_markdown()


FROM_ALL = "without replacement from all items"


def test_what_sampled_models_were_estimated_from_is_said() -> None:
    found = compare({name: one for name, one in fixed(10).items() if name != "c"}, "ndcg@10")
    among = f"600 targets ranked among 10 of 200 items, target included ({FROM_ALL})"
    assert found.estimated_from == (among,)
    assert str(found).splitlines()[1] == f"Estimated from {among}."
    assert any(
        note.startswith("▲ The sample hardly distinguishes true ranks") for note in found.notes
    )
    (unresolved,) = found.unresolved
    assert unresolved in found.notes
    assert unresolved.removeprefix("▲ ") in found.to_markdown()
    assert "▲" not in found.to_markdown()  # there is none in its tables
    assert f"estimated from {among}. Estimator: smoothed" in found.to_markdown()
    assert "which includes the variance from sampling candidates" in found.to_markdown()
    assert "| difference | estimate |" in found.to_markdown()
    mixed = compare({"a": fixed(10)["a"], "b": replace(EXACT["b"], item=None)}, "ndcg@10")
    assert any(note.startswith("a: ▲ The sample hardly") for note in mixed.notes)
    known = compare(EXACT, "ndcg@10")
    assert known.estimated_from == ()
    assert "Full-catalogue metrics for 600 users in common. SE" in known.to_markdown()
    naive = compare(fixed(40), "ndcg@10", method="naive")
    assert naive.estimated_from == ()
    assert "Metrics among sampled candidates for 600 users" in naive.to_markdown()


def test_what_was_ranked_in_full_is_not_said_to_be_estimated() -> None:
    whole = compare(fixed(N), "ndcg@10")
    assert whole.estimated_from == ()
    assert "Full-catalogue metrics for 600 users in common. SE" in whole.to_markdown()
    mixed = compare({"a": fixed(10)["a"], "b": fixed(N)["b"]}, "ndcg@10")
    among = f"600 targets ranked among 10 of 200 items, target included ({FROM_ALL})"
    assert mixed.estimated_from == (f"a: {among}",)


def test_averages_over_seeds_are_said_to_be_estimated_from_them() -> None:
    seeds = {name: Seeds({"1": one, "2": one}) for name, one in fixed(10).items() if name != "c"}
    found = compare(seeds, "ndcg@10")
    assert "estimated from 2 seeds (1, 2) of 600 targets ranked among 10" in found.to_markdown()
    assert "which includes the variance from sampling candidates" in found.to_markdown()
    assert any(
        note.startswith("▲ The sample hardly distinguishes true ranks") for note in found.notes
    )


@pytest.mark.parametrize("form", ["to_markdown", "to_latex"])
def test_users_that_are_not_paired_are_not_said_to_be_different(form: str) -> None:
    shown = getattr(compare(EXACT, "ndcg@10", paired=False, correction=None), form)()
    assert "600, 600 and 600 users, not paired" in shown
    assert "different" not in shown

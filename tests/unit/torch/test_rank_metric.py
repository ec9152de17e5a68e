"""`RankMetric` beside `fullrank.rank` on the same scores, on torchmetrics and without it."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse

torch = pytest.importorskip("torch")

from fullrank import RankSample, estimate, rank  # noqa: E402
from fullrank.errors import InputError  # noqa: E402
from fullrank.torch import counts  # noqa: E402

COLUMNS = ("user", "item", "above", "equal", "candidates", "n_targets", "offset", "weight")
METRICS = "recall@3, ndcg@10, ap, auc"


def made(seed=0, n_users=12, n_items=40, most=4, whole=True):
    """Scores with ties, targets of each user, and what is excluded for each."""
    random = np.random.default_rng(seed)
    scores = random.normal(size=(n_users, n_items)) * 3
    scores = (scores.round() if whole else scores).astype(np.float32)
    scores[scores == 0] *= np.where(random.random((scores == 0).sum()) < 0.5, 1, -1)
    targets = [random.choice(n_items, random.integers(1, most + 1), replace=False)
               for _ in range(n_users)]  # fmt: skip
    seen = [np.setdiff1d(random.choice(n_items, 6), one) for one in targets]
    return scores, targets, seen


def padded(lists, fill=-1):
    width = max(map(len, lists))
    return torch.tensor([[*one, *[fill] * (width - len(one))] for one in lists])


def by_rank(scores, targets, seen=None, ties="mean"):
    """What `fullrank.rank` finds, by user and item."""
    users = np.repeat(np.arange(len(targets)), [len(one) for one in targets])
    items = np.concatenate(targets)
    order = np.lexsort((items, users))
    exclude = None
    if seen is not None:
        rows = np.repeat(np.arange(len(seen)), [len(one) for one in seen])
        cells = (np.ones(rows.size), (rows, np.concatenate(seen)))
        exclude = sparse.csr_array(cells, shape=scores.shape)
    return rank(scores, (users[order], items[order]), exclude=exclude, ties=ties)


def same(found, expected):
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    assert (found.ties, found.pool) == (expected.ties, expected.pool)
    np.testing.assert_array_equal(found.ranks, expected.ranks)
    assert found.metrics(METRICS) == expected.metrics(METRICS)


@pytest.mark.parametrize("ties", ["mean", "best", "worst"])
@pytest.mark.parametrize("excluding", [False, True])
@pytest.mark.parametrize("together", [True, False])
def test_the_ranks_of_rank(rank_metric, ties, excluding, together):
    scores, targets, seen = made()
    metric = rank_metric(METRICS, ties=ties)
    block, excluded = torch.from_numpy(scores), padded(seen)
    if together:  # in two updates, users in another order
        for part in (np.arange(11, 4, -1), np.arange(5)):
            exclude = excluded[part] if excluding else None
            metric.update(
                block[part], padded([targets[u] for u in part]), torch.from_numpy(part.copy()),
                exclude=exclude,
            )  # fmt: skip
    else:  # one by one, so that a user's are split over updates
        users = np.repeat(np.arange(12), [len(one) for one in targets])
        items = np.concatenate(targets)
        mixed = np.random.default_rng(1).permutation(users.size)
        for part in np.array_split(mixed, 3):
            exclude = excluded[users[part]] if excluding else None
            metric.update(block[users[part]], items[part], users[part], exclude=exclude)
    expected = by_rank(scores, targets, seen if excluding else None, ties)
    same(metric.exact(), expected)
    assert metric.compute() == expected.metrics(METRICS)
    assert (expected.offset > 0).any()
    assert (expected.equal > 0).any()
    np.testing.assert_array_equal(metric.sample().rank, expected.whole_sample().rank)


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32", "float64"])
def test_every_float_type(rank_metric, kind):
    scores, targets, _ = made(whole=False)
    block = torch.from_numpy(scores).to(getattr(torch, kind)).requires_grad_()
    metric = rank_metric(METRICS)
    metric.update(block, padded(targets), torch.arange(12))
    same(metric.exact(), by_rank(block.detach().double().numpy(), targets))


def test_excluded_targets_stay_whether_together_or_one_by_one(rank_metric):
    """Targets of a user that are excluded in each other's rows are targets all the same."""
    scores, targets, seen = made(3)
    seen = [np.union1d(a, b[: len(b) // 2 + 1]) for a, b in zip(seen, targets, strict=True)]
    expected = by_rank(scores, targets, seen)
    block, excluded = torch.from_numpy(scores), padded(seen)
    together, apart = rank_metric(METRICS), rank_metric(METRICS)
    together.update(block, padded(targets), torch.arange(12), exclude=excluded)
    users = np.repeat(np.arange(12), [len(one) for one in targets])
    apart.update(block[users], np.concatenate(targets), users, exclude=excluded[users])
    same(together.exact(), expected)
    same(apart.exact(), expected)


def test_masked_targets_rank_last(rank_metric):
    inf = float("inf")
    scores = torch.tensor([[-inf, 3.0, 1.0, -inf, 2.0, -inf]])
    metric = rank_metric("recall@3")
    metric.update(scores, torch.tensor([[0, 2, 3]]), torch.tensor([5]))
    found = metric.exact()
    # two items and three targets: 1 by two items; the others behind it, then by number
    assert found.item.tolist() == [0, 2, 3]
    assert found.ranks.tolist() == [4.0, 3.0, 5.0]
    assert found.candidates.tolist() == [5, 5, 5]
    assert found.pool == "unseen"


def test_without_users_each_row_is_one(rank_metric):
    scores, targets, _ = made(most=1)
    metric = rank_metric(METRICS)
    items = torch.from_numpy(np.concatenate(targets))
    metric.update(torch.from_numpy(scores[:5]), items[:5])
    metric.update(torch.from_numpy(scores[5:]), items[5:])
    same(metric.exact(), by_rank(scores, targets))
    metric.reset()
    metric.update(torch.from_numpy(scores), items)
    assert metric.compute() == by_rank(scores, targets).metrics(METRICS)
    several = made()
    metric = rank_metric(METRICS)
    metric.update(torch.from_numpy(several[0]), padded(several[1], -100))
    same(metric.exact(), by_rank(*several[:2]))


def test_positions_of_sequences(rank_metric):
    random = np.random.default_rng(2)
    scores = torch.from_numpy(random.normal(size=(3, 4, 20)))
    target = torch.from_numpy(random.integers(0, 20, (3, 4)))
    target[0, 2] = target[2, 3] = -100
    metric = rank_metric(METRICS)
    metric.update(scores, target)
    keep = (target >= 0).flatten()
    flat = scores.reshape(12, 20)[keep].numpy()
    expected = by_rank(flat, target.flatten()[keep].numpy()[:, None])
    np.testing.assert_array_equal(metric.exact().ranks, expected.ranks)
    named = rank_metric(METRICS)
    named.update(scores, target, torch.arange(12).reshape(3, 4))
    np.testing.assert_array_equal(named.exact().user, np.flatnonzero(keep))


def test_ids(rank_metric):
    scores, targets, _ = made(most=1)
    metric, items = rank_metric(METRICS), torch.from_numpy(np.concatenate(targets))
    metric.update(torch.from_numpy(scores), items, torch.arange(12))
    names = np.array([f"u{u}" for u in range(12)])
    found = metric.exact(user_ids=names, item_ids=np.arange(40) + 100)
    np.testing.assert_array_equal(found.user, names)
    np.testing.assert_array_equal(found.item, np.concatenate(targets) + 100)
    with pytest.raises(InputError, match=r"`user` must lie in 0\.\.2, the rows of `user_ids`"):
        metric.exact(user_ids=["a", "b", "c"])
    large = rank_metric(METRICS)
    users = 2**62 - torch.arange(12)
    large.update(torch.from_numpy(scores), items, users, item=items + 2**61)
    np.testing.assert_array_equal(large.exact().user, np.sort(users.numpy()))
    assert large.exact().item.min() >= 2**61
    assert large.compute() == metric.compute()


def test_repeats_are_dropped_and_must_agree(rank_metric):
    scores, targets, _ = made(1)
    block, users = torch.from_numpy(scores), torch.arange(12)
    metric, once = rank_metric(METRICS), rank_metric(METRICS)
    once.update(block, padded(targets), users)
    metric.update(block, padded(targets), users)
    metric.update(block[:3], padded(targets)[:3], users[:3])
    same(metric.exact(), once.exact())
    rounded = rank_metric(METRICS)  # as where a batch of another shape is summed in another order
    rounded.update(block, padded(targets), users)
    rounded.update(block[:3] * (1 + 2**-20), padded(targets)[:3], users[:3])
    assert rounded.compute() == once.compute()
    metric.update(-block[:1], padded(targets)[:1], users[:1])
    with pytest.raises(InputError, match=r"user 0 and item .*occur again"):
        metric.compute()


def test_lists_that_are_not_one(rank_metric):
    metric = rank_metric(METRICS)
    scores = torch.tensor([[5.0, 4.0, 3.0, 2.0], [9.0, -8.0, -7.0, -6.0]])
    metric.update(scores, [1, 0], [7, 7])  # item 0 has rank 1, but is above nothing of user 7
    metric.update(scores[:1], [0], [8])
    assert metric.exact().ranks.tolist() == [1.0, 2.0, 1.0]  # nothing contradicts that list
    metric.update(scores[1:], [1], [8])
    metric.update(scores[1:], [2], [8], exclude=torch.tensor([[3]]))
    with pytest.raises(InputError, match=r"`user`.*user 8 have 4 and 3 candidates"):
        metric.compute()
    metric = rank_metric(METRICS)
    metric.update(torch.tensor([[0.0, 9.0, 1.0], [9.0, 8.0, 1.0]]), [2, 1], [3, 3])
    metric.update(torch.tensor([[9.0, 8.0, 7.0]]), [0], [3])
    with pytest.raises(InputError, match="user 3 have scores from different lists"):
        metric.compute()
    metric = rank_metric(METRICS, ties="worst")  # each of both targets is the only candidate
    metric.update(torch.tensor([[1.0, -np.inf], [-np.inf, 1.0]]), [0, 1], [4, 4])
    with pytest.raises(InputError, match="user 4 have 2 targets and 1 candidate"):
        metric.compute()


@pytest.mark.parametrize(
    ("update", "message"),
    [
        ({"user": [0.5, 1.0]}, "`user`.*float64"),
        ({"user": [1]}, r"`user`.*\(2,\).*\(1,\)"),
        ({"user": np.array([2**63, 1], np.uint64)}, r"`user`.*below 2\*\*63"),
        ({"item": [1]}, r"`item`.*\(2,\).*\(1,\)"),
        ({"scores": torch.tensor([[1.0, 2.0], [float("nan"), 0.0]])}, "`scores`.*user 9 is NaN"),
        ({"target": [0, 2]}, "`target`.*user 9"),
        ({"exclude": [[], [3]]}, "`exclude`.*user 9"),
    ],
)
def test_wrong_updates(rank_metric, update, message):
    metric = rank_metric()
    given = {"scores": torch.ones(2, 2), "target": [0, 1], "user": [4, 9], **update}
    with pytest.raises(InputError, match=message):
        metric.update(**given)
    with pytest.raises(InputError, match="at least one target"):
        metric.compute()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ties": "random"}, "`ties`.*'mean', 'best', 'worst'.*'random'"),
        ({"n_items": 0}, "`n_items`.*at least 1"),
        ({"design": "exact:10"}, "`design`.*exact:10"),
        ({"design": "adaptive:2-8", "n_items": 9}, "`design`.*adaptive:2-8"),
        ({"design": "sampled:10"}, "`n_items`"),
        ({"metrics": "recal@10"}, "recal"),
    ],
)
def test_wrong_settings(rank_metric, settings, message):
    with pytest.raises(InputError, match=message):
        rank_metric(**settings)


def test_what_cannot_be_asked(rank_metric):
    metric = rank_metric(n_items=5)
    with pytest.raises(InputError, match=r"`scores`.*each item, 5 in all, not 4"):
        metric.update(torch.ones(1, 4), [0])
    metric.update(torch.ones(1, 5), [0])
    metric.update(torch.ones(1, 5), [0], [3])
    with pytest.raises(InputError, match=r"`user`.*every update or in none"):
        metric.exact()


def test_devices_without_float64(monkeypatch):
    """Apple's GPUs: the counts are made there, and kept on the processor."""
    from fullrank.torch import rows
    from fullrank.torch.counting import BlockCounts, count_block

    class OnApple(torch.Tensor):
        device = property(lambda self: torch.device("mps"))

        def double(self):
            raise TypeError("the MPS framework doesn't support float64")

        def cpu(self):
            return self.as_subclass(torch.Tensor)

    def counted(*given):
        found = count_block(*given)
        parts = (found.counts, found.columns, found.mark, found.hidden)
        return BlockCounts(*(part.as_subclass(OnApple) for part in parts))

    monkeypatch.setattr(rows, "count_block", counted)
    found = rows.make_rows(
        torch.tensor([[0.5, -1.5]]), [1], torch.tensor([7]), None, None, numbered_from=0
    )
    assert found[:, rows.USER].tolist() == [7]
    assert rows.score_of(found.numpy()).tolist() == [-1.5]


def test_one_id_is_no_table(rank_metric):
    metric = rank_metric()
    metric.update(torch.ones(1, 5), [0], [0])
    with pytest.raises(InputError, match=r"`user_ids`.*shape \(\)"):
        metric.exact(user_ids=7)


def test_lists_of_sampled_targets_are_refused_as_tensors_are(rank_metric):
    for target in ([[0, 1]], np.array([[0, 1]]), torch.tensor([[0, 1]])):
        metric = rank_metric(design="sampled:5", n_items=100)
        with pytest.raises(InputError, match=r"`target`.*one column for each row"):
            metric.update(torch.ones(1, 5), target, [0])


def test_a_clone_has_its_own_states(rank_metric):
    metric = rank_metric("rr")
    metric.update(torch.ones(1, 5), [0], [3])
    other = metric.clone()
    other.update(torch.ones(1, 5), [0], [4])
    assert metric.exact().user.tolist() == [3]
    assert other.exact().user.tolist() == [3, 4]
    third = rank_metric("rr")
    third.merge_state(other.metric_state)
    assert third.exact().user.tolist() == [3, 4]


def test_copies_pickles_moves_and_resets(rank_metric):
    scores, targets, _ = made()
    block = torch.from_numpy(scores)
    metric = rank_metric(METRICS)
    metric.update(block[:6], padded(targets[:6]), torch.arange(6))
    others = [copy.deepcopy(metric), pickle.loads(pickle.dumps(metric)), metric.to("cpu")]
    others += [metric.half(), metric.double()]
    expected = by_rank(scores, targets)
    for other in others[:2]:
        other.update(block[6:], padded(targets[6:]), torch.arange(6, 12))
        same(other.exact(), expected)
    assert metric.compute() == by_rank(scores[:6], targets[:6]).metrics(METRICS)
    metric.reset()
    metric.update(block[6:], padded(targets[6:]), torch.arange(6, 12))
    assert metric.exact().user.min() == 6
    assert "recall@3" in repr(metric)


def test_moves_with_its_module(rank_metric):
    class Holder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.metric = rank_metric()

    holder = Holder()
    holder.metric.update(torch.ones(2, 3), [0, 1], [4, 9])
    moved = holder.to("meta")
    assert {str(part.device) for part in moved.metric.rows} == {"meta"}
    assert str(moved.metric.device) == "meta"
    assert moved.state_dict() == {}


def test_forward_returns_the_batch_and_keeps_it(rank_metric):
    scores, targets, _ = made()
    block, metric = torch.from_numpy(scores), rank_metric(METRICS)
    for part in (slice(0, 5), slice(5, 12)):
        users = torch.arange(12)[part]
        value = metric(block[part], padded(targets[part]), users)
        part_users = [targets[u] for u in users]
        assert value == by_rank(scores[part], part_users).metrics(METRICS)
    assert metric.compute() == by_rank(scores, targets).metrics(METRICS)


def test_forward_without_users(rank_metric):
    scores, targets, _ = made(most=1)
    block, items, metric = torch.from_numpy(scores), np.concatenate(targets), rank_metric("rr")
    for part in (slice(0, 5), slice(5, 12)):
        value = metric(block[part], items[part])
        assert value == by_rank(scores[part], targets[part]).metrics("rr")
    assert metric.exact().user.tolist() == list(range(12))


def test_forward_of_a_batch_that_has_no_target(rank_metric):
    """Nothing is lost of what came before; its own metrics are means of nothing."""
    scores, targets, _ = made()
    block, metric = torch.from_numpy(scores), rank_metric("rr, auc")
    metric(block, padded(targets), torch.arange(12))
    value = metric(block[:2], torch.tensor([-100, -100]), torch.arange(2))
    assert list(value) == ["rr", "auc"]
    assert np.isnan(list(value.values())).all()
    assert metric.compute() == by_rank(scores, targets).metrics("rr, auc")


def test_forward_that_fails_loses_nothing(rank_metric):
    scores, targets, _ = made()
    block, metric = torch.from_numpy(scores), rank_metric("rr")
    metric(block, padded(targets), torch.arange(12))
    with pytest.raises(InputError, match="NaN"):
        metric(block * float("nan"), padded(targets), torch.arange(12, 24))
    assert metric.compute() == by_rank(scores, targets).metrics("rr")


def test_rows_are_numbered_from_0_after_a_reset(rank_metric):
    """So that a row has the same number in every epoch, and epochs can be compared."""
    metric, block = rank_metric("rr"), torch.rand(4, 9)
    for _ in range(2):
        metric.update(block[:3], [0, 1, 2])
        metric.update(block[3:], [3])
        assert metric.exact().user.tolist() == [0, 1, 2, 3]
        metric.reset()


def test_metrics_that_are_merged(metric_on_torchmetrics):
    scores, targets, _ = made()
    block, parts = torch.from_numpy(scores), [metric_on_torchmetrics("rr") for _ in range(4)]
    parts[0].update(block[:5], padded(targets[:5]), torch.arange(5))
    parts[1].update(block[5:], padded(targets[5:]), torch.arange(5, 12))
    parts[0].merge_state(parts[1])
    same(parts[0].exact(), by_rank(scores, targets))
    for part in parts[2:]:  # rows of both have the numbers 0, 1, 2
        part.update(block[:3], padded(targets[:3]))
    with pytest.raises(InputError, match="`user` must be given"):
        parts[2].merge_state(parts[3])
    with pytest.raises(InputError, match="`user` must be given"):
        parts[1].merge_state(parts[3].metric_state)


def test_what_can_be_merged(rank_metric):
    metric = rank_metric("rr")
    with pytest.raises(InputError, match=r"`incoming_state`.*RankMetric.*not 7"):
        metric.merge_state(7)
    with pytest.raises(InputError, match=r"`incoming_state`.*'exact', not 'sampled:3"):
        metric.merge_state(rank_metric("rr", design="sampled:3", n_items=9))
    metric.update(torch.ones(1, 3), [0], [5])
    other = rank_metric("rr", n_items=3)
    other.merge_state({"rows": metric.rows})
    assert other.exact().user.tolist() == [5]


def test_a_collection_that_is_updated_and_called(metric_on_torchmetrics):
    """Metrics of a collection share their rows."""
    from torchmetrics import MetricCollection

    scores, targets, _ = made()
    for calls in ("ufu", "fuf", "uff"):
        names = ("rr", "auc", "ndcg@10")
        collection = MetricCollection({name: metric_on_torchmetrics(name) for name in names})
        for how, part in zip(calls, (slice(0, 4), slice(4, 7), slice(7, 12)), strict=True):
            given = torch.from_numpy(scores[part]), padded(targets[part]), torch.arange(12)[part]
            if how == "u":
                collection.update(*given)
            else:
                assert collection(*given) == by_rank(scores[part], targets[part]).metrics(names)
        assert collection.compute() == by_rank(scores, targets).metrics(names)
        for metric in collection.values():
            assert sum(map(len, metric.rows)) == sum(map(len, targets))


def test_nothing_is_kept_of_the_block(rank_metric):
    metric = rank_metric()
    metric.update(torch.rand(64, 5_000), torch.arange(64), torch.arange(64))
    (rows,) = metric.rows
    assert rows.shape == (64, 7)
    assert rows.untyped_storage().nbytes() == 64 * 7 * 8


def test_a_collection(metric_on_torchmetrics):
    from torchmetrics import MetricCollection

    scores, targets, _ = made()
    collection = MetricCollection(
        {
            "a": metric_on_torchmetrics("recall@3"),
            "b": metric_on_torchmetrics("ndcg@10", ties="worst"),
            "c": metric_on_torchmetrics("auc"),
        }
    )
    for part in (slice(0, 5), slice(5, 12)):
        users = torch.arange(12)[part]
        collection.update(torch.from_numpy(scores[part]), padded(targets[part]), users)
    expected = by_rank(scores, targets)
    assert collection.compute() == {
        **expected.metrics("recall@3, auc"),
        **expected.with_ties("worst").metrics("ndcg@10"),
    }
    collection.reset()
    copied = collection.clone(prefix="val_")
    copied(torch.from_numpy(scores), padded(targets), torch.arange(12))
    assert copied.compute()["val_auc"] == expected.metrics("auc")["auc"]


def sampled_blocks(seed=0, n_users=200, n_items=1_000, n=50):
    """Blocks of a target and n - 1 others, the target in any column; and all scores."""
    random = np.random.default_rng(seed)
    users, items = random.normal(size=(n_users, 6)), random.normal(size=(n_items, 6))
    scores = (users @ items.T).astype(np.float32)
    target = np.array([random.choice(np.argsort(-row)[:300]) for row in scores])
    drawn = np.array([
        np.append(t, random.choice(np.delete(np.arange(n_items), t), n - 1, replace=False))
        for t in target
    ])  # fmt: skip
    order = random.permuted(np.tile(np.arange(n), (n_users, 1)), axis=1)
    drawn = np.take_along_axis(drawn, order, 1)
    columns = np.argmax(drawn == target[:, None], 1)
    blocks = np.take_along_axis(scores, drawn, 1)
    return scores, target, torch.from_numpy(blocks), torch.from_numpy(columns)


@pytest.mark.parametrize("ties", ["mean", "best", "worst"])
def test_sampled_candidates(rank_metric, ties):
    _, target, blocks, columns = sampled_blocks()
    blocks = (blocks * 2).round() / 2
    metric = rank_metric("recall@10, ndcg@10", design="sampled:50", n_items=1_000, ties=ties)
    metric.update(blocks[:80], columns[:80], torch.arange(80), item=target[:80])
    metric.update(blocks[80:], columns[80:], torch.arange(80, 200), item=target[80:])
    metric.update(blocks[:3], columns[:3], torch.arange(3), item=target[:3])  # repeats
    above, equal, candidates = counts(blocks, columns).numpy().T
    assert (equal % 2).any()
    tied = {"mean": np.ceil(equal / 2).astype(int), "best": 0, "worst": equal}[ties]
    expected = RankSample.from_ranks(
        1 + above + tied, n_items=1_000, sample_size=candidates, user=np.arange(200), item=target,
        design="sampled:50" if ties == "mean" else f"sampled:50,ties={ties}",
    )  # fmt: skip
    found = metric.sample()
    assert found.to_dict() == expected.to_dict()
    np.testing.assert_array_equal(found.rows.rank, expected.rows.rank)
    np.testing.assert_array_equal(found.rows.item, target)
    assert metric.compute() == dict(estimate(expected, "recall@10, ndcg@10").values)
    with pytest.raises(InputError, match=r"`design`.*`sample\(\)`"):
        metric.exact()


def test_the_estimate_is_near_the_full_catalogue(rank_metric):
    scores, target, blocks, columns = sampled_blocks(n_users=1_500)
    metric = rank_metric("recall@100, ndcg", design="sampled:50", n_items=1_000)
    metric.update(blocks, columns)
    truth = rank(scores, (np.arange(1_500), target)).metrics("recall@100, ndcg")
    found = metric.compute()
    assert truth["recall@100"] == pytest.approx(found["recall@100"], rel=0.1)
    assert truth["ndcg"] == pytest.approx(found["ndcg"], rel=0.05)


def test_several_sampled_targets_of_a_user(rank_metric):
    metric = rank_metric("recall@5", design="sampled:3", n_items=20)
    blocks = torch.tensor([[1.0, 2.0, 0.0], [3.0, 4.0, 0.0], [5.0, 1.0, 2.0]])
    metric.update(blocks, [0, 0, 0], [7, 7, 8], item=[11, 4, 4])
    rows = metric.sample().rows
    assert rows.n_targets.tolist() == [2, 2, 1]
    assert rows.item.tolist() == [4, 11, 4]
    assert rows.offset.tolist() == [0, 1, 0]
    assert rows.rank.tolist() == [2, 2, 1]
    metric.reset()
    metric.update(blocks, [0, 0, 0], [7, 7, 8])
    with pytest.raises(InputError, match=r"user 7 .*Give the ids of targets as `item`"):
        metric.sample()
    with pytest.raises(InputError, match=r"`target`.*separate rows"):
        metric.update(blocks, torch.zeros(3, 2, dtype=torch.int64), [1, 2, 3])


# ---- repeats that are none ----


def test_another_list_of_the_same_user_and_item_is_no_repeat(rank_metric):
    """At rank 1 in one list and at rank 16 in the other, whatever a few ranks are to a rounding."""
    metric = rank_metric("recall@10")
    scores = torch.arange(1000.0).repeat(2, 1)
    scores[0, 7], scores[1, 7] = 1000.0, 984.5 - 400
    metric.update(scores, [7, 7], [3, 3])
    with pytest.raises(InputError, match=r"user 3 and item 7 .*needs `reset` first"):
        metric.compute()


def test_scores_near_zero_are_rounded_like_the_others(rank_metric):
    random = np.random.default_rng(0)
    block = torch.from_numpy(random.normal(size=(20, 1000)))
    block[:2, 3] = 1e-9
    once, again = rank_metric("ndcg"), rank_metric("ndcg")
    targets, users = torch.full((20,), 3), torch.arange(20)
    once.update(block, targets, users)
    again.update(block, targets, users)
    block[:2, 3] = -2e-9
    again.update(block[:2], targets[:2], users[:2])
    assert again.compute() == once.compute()


def test_a_second_epoch_without_a_reset_is_refused(rank_metric):
    """Its targets would be dropped as repeats, and the metric be that of the epoch before."""
    random = np.random.default_rng(0)
    block = torch.from_numpy(1 + 0.1 * random.random((200, 50)))
    targets, users = torch.arange(200) % 50, torch.arange(200)
    metric = rank_metric("recall@10")
    metric.update(block, targets, users)
    trained = block + torch.from_numpy(0.001 * random.random((200, 50)))
    metric.update(trained, targets, users)
    with pytest.raises(InputError, match=r"`reset` must be called .*200 repeats of 200 targets"):
        metric.compute()
    metric.reset()
    metric.update(trained, targets, users)
    first = metric.compute()
    metric.update(trained, targets, users)  # where every process evaluates everything
    assert metric.compute() == first


def test_sampled_targets_without_ids_are_not_dropped(rank_metric):
    """Two targets of a user are both in column 0, and may have scores that are close."""
    metric = rank_metric("recall@10", design="sampled:100", n_items=1000)
    random = np.random.default_rng(0)
    block = torch.from_numpy(0.5 + 0.001 * random.random((600, 100)))
    metric.update(block, [0] * 600, torch.arange(600) // 2)
    with pytest.raises(InputError, match=r"Give the ids of targets as `item`"):
        metric.sample()
    named = rank_metric("recall@10", design="sampled:100", n_items=1000)
    named.update(block, [0] * 600, torch.arange(600) // 2, item=torch.arange(600))
    assert named.sample().n_targets == 600


def test_a_state_that_is_loaded_goes_on_with_its_numbers(rank_metric):
    scores, targets, _ = made(2, n_users=20, most=1)
    block, target = torch.from_numpy(scores), padded(targets)[:, 0]
    first, second, whole = (rank_metric("recall@10") for _ in range(3))
    whole.update(block, target)
    first.persistent(True)
    second.persistent(True)
    first.update(block[:12], target[:12])
    kept = first.state_dict()
    n_kept = len(kept["rows"])
    second.load_state_dict(kept)
    second.update(block[12:], target[12:])
    assert len(kept["rows"]) == n_kept  # a checkpoint stays as it is
    np.testing.assert_array_equal(second.exact().ranks, whole.exact().ranks)
    assert first.update_called
    assert not rank_metric().update_called


def test_a_setting_of_torchmetrics_says_what_it_needs(plain_metric):
    with pytest.raises(InputError, match=r"`compute_on_cpu` must be omitted, unless.*torchmetrics"):
        plain_metric("recall@10", compute_on_cpu=True)

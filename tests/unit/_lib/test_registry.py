"""Names that anyone may add to."""

from __future__ import annotations

import pytest

from fullrank import designs, estimators, losses, metrics, models, scorers
from fullrank._lib.names.registry import Registry
from fullrank.errors import InputError


@pytest.fixture
def shapes() -> Registry[int]:
    return Registry("shape", {"square": 4, "Triangle": 3}, aliases={"square": ("box",)})


@pytest.mark.parametrize("name", ["square", "Square", " SQUARE", "box"])
def test_any_spelling_finds_the_entry(shapes: Registry[int], name: str) -> None:
    assert shapes[name] == shapes.find(name) == 4
    assert shapes.name_of(name) == "square"
    assert name in shapes


def test_dashes_are_underscores(shapes: Registry[int]) -> None:
    shapes.register("right-angle", 2)
    assert shapes["right_angle"] == shapes["Right Angle"] == 2


def test_it_is_a_mapping_of_the_names_as_they_were_registered(shapes: Registry[int]) -> None:
    assert dict(shapes) == {"square": 4, "Triangle": 3}
    assert len(shapes) == 2
    assert shapes.get("circle") is None
    assert repr(shapes) == "Registry of shapes: square, Triangle"
    assert repr(losses.LOSSES).startswith("Registry of losses: ")


def test_an_unknown_name_is_told_the_closest_first(shapes: Registry[int]) -> None:
    with pytest.raises(InputError, match=r"^`shape` must be one of 'Triangle', 'square', not 'tri"):
        shapes.find("triangl")
    with pytest.raises(InputError, match=r"^`--shape`.*'any', 'square'.*not 'xyz'"):
        shapes.find("xyz", argument="--shape", also=("any",))
    with pytest.raises(InputError, match=r"`shape`.*not 7"):
        shapes.find(7)


@pytest.mark.parametrize("name", ["square", "SQUARE", "box"])
def test_a_name_is_entered_once(shapes: Registry[int], name: str) -> None:
    with pytest.raises(InputError, match=rf"`name` must be unused.*{name}"):
        shapes.register(name, 5)
    with pytest.raises(InputError, match="`name` must be unused"):
        shapes.register("other", 5, aliases=(name,))
    assert "other" not in shapes


@pytest.mark.parametrize("name", ["", "a b", "7up", "a@b", "a:b", 7, None])
def test_a_name_is_one_word(shapes: Registry[int], name: str) -> None:
    with pytest.raises(InputError, match="`name` must be a letter"):
        shapes.register(name, 5)


def test_only_what_was_added_is_taken_out(shapes: Registry[int]) -> None:
    shapes.register("circle", 0, aliases=("ring",))
    shapes.unregister("circle")
    assert "circle" not in shapes
    assert "ring" not in shapes
    for name in ("circle", "square"):
        with pytest.raises(InputError, match=rf"`name` must be one of the shapes added.*{name}"):
            shapes.unregister(name)


def test_for_a_while(shapes: Registry[int]) -> None:
    with shapes.temporarily("circle", 0):
        assert shapes["circle"] == 0
    assert "circle" not in shapes


@pytest.mark.parametrize(
    ("home", "name"),
    [
        (designs, "sampled"),
        (estimators, "mle"),
        (losses, "bpr"),
        (metrics, "ndcg"),
        (models, "ease"),
    ],
)
def test_what_the_library_brings_stays(home: object, name: str) -> None:
    with pytest.raises(InputError, match=rf"`name`.*{name}"):
        home.unregister(name)  # type: ignore[attr-defined]


def test_what_is_registered_can_be_called() -> None:
    for register in (estimators.register, losses.register, models.register, scorers.register):
        with pytest.raises(InputError, match=r"`(fit|function|make)` must be"):
            register("thing", 7)  # type: ignore[operator]
    with pytest.raises(InputError, match="`gain` must be a function"):
        metrics.register("thing", 7)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="`make` must have `fit` and `scorer`; dict"):
        models.register("thing", dict)

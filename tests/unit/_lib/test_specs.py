"""The small language, and what the options stand for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullrank._lib.specs import Spec, parse_spec
from fullrank.cli.option_values import engine_of, given_models, pairs_of
from fullrank.errors import InputError
from fullrank.evaluation import evaluate, make_model
from fullrank.evaluation.model_sources import named


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("ease", Spec("ease")),
        ("ease:regularization=500", Spec("ease", None, {"regularization": 500})),
        ("x:1e7,a=0.5,b=last,c=none,d=False", Spec("x", 1e7, {"a": 0.5, "b": "last", "c": None,
                                                              "d": False})),
        ("net:hidden=64/32/16", Spec("net", None, {"hidden": (64, 32, 16)})),
        ("net:a=1/x,b=/3", Spec("net", None, {"a": "1/x", "b": "/3"})),
    ],
)  # fmt: skip
def test_specs_are_read(text: str, spec: Spec) -> None:
    assert parse_spec("model", text) == spec


@pytest.mark.parametrize("text", ["a:", "a:b=1,2", "a:=3", "a:b=", "a:1,,b=2"])
def test_broken_specs_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=rf"`model`.*setting=value.*{re.escape(text)}"):
        parse_spec("model", text)


def test_a_setting_given_twice_is_refused() -> None:
    with pytest.raises(InputError, match=r"`model`.*'a:b=1,b=2'"):
        parse_spec("model", "a:b=1,b=2")


def test_models_by_name() -> None:
    assert make_model("ease:regularization=3").regularization == 3.0
    assert make_model("neumf:hidden=64/32").hidden == (64, 32)
    assert make_model("multi-vae:hidden=600").hidden == (600,)
    with pytest.raises(InputError, match=r"`model`.*'popularity'.*'easy'"):
        make_model("easy")
    with pytest.raises(InputError, match=r"`model`.*regularization.*'lambda'"):
        make_model("ease:lambda=3")
    with pytest.raises(InputError, match=r"`model`.*settings.*'ease:500'"):
        make_model("ease:500")
    with pytest.raises(InputError, match=r"`regularization`.*-1\b"):
        make_model("ease:regularization=-1")


def test_models_name_themselves_or_are_named() -> None:
    assert named(["mf", "mine=mf:n_factors=4"]) == {"mf": "mf", "mine": "mf:n_factors=4"}
    with pytest.raises(InputError, match=r"`models`.*'mf'"):
        named(["mf", "mf"])


def test_factors_need_a_name_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "both.npz"
    np.savez(path, user_factors=np.ones((2, 2)), item_factors=np.ones((3, 2)))
    with pytest.raises(InputError, match=r"`factors`.*'mf'"):
        given_models(["mf"], [f"mf={path}"])
    for text in ("nothing", "=x.npy", "a=x,y,z"):
        with pytest.raises(InputError, match=rf"`factors`.*name=users\.npy.*'{text}'"):
            given_models([], [text])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"design": "exakt"}, r"`design`.*'exact', 'adaptive', 'sampled'.*'exakt'"),
        ({"design": 3}, r"`design`.*'sampled:100'.*\b3\b"),
        ({"design": "sampled:1"}, r"`sample_size`.*\b1\b"),
        ({"n_users": 0}, r"`n_users`.*\b0\b"),
        ({"budget": "much"}, r"`budget`.*'much'"),
        ({"budget": 1e5, "design": "exact"}, r"`budget`.*`design`"),
    ],
)
def test_what_an_evaluation_cannot_rank(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate({"m": np.eye(4)}, ([0, 1], [2, 3]), **settings)


def test_engines_from_text() -> None:
    assert repr(engine_of("processes:2")) == "Processes(workers=2)"
    assert repr(engine_of("serial:1")) == "Serial(threads=1)"
    assert repr(engine_of("ray:ray://head:10001")) == (
        "Ray(address='ray://head:10001', cpus=1, gpus=0)"
    )
    assert repr(engine_of("ray:workers=2,gpus=1")) == "Ray(address=None, cpus=1, gpus=1)"
    with pytest.raises(InputError, match=r"`engine`.*'workers'"):
        engine_of("serial:workers=2")
    with pytest.raises(InputError, match=r"`engine`.*threads once.*'serial:4,threads=2'"):
        engine_of("serial:4,threads=2")


def test_pairs() -> None:
    with pytest.raises(InputError, match=r"`--column`.*ROLE=NAME.*'user'"):
        pairs_of("--column", ["user"])

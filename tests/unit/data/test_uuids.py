"""UUIDs as ids: objects, Arrow's type and text are the same ids."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fullrank.data import Interactions
from fullrank.errors import InputError

UUIDS = [UUID(int=at << 100 | 7 * at) for at in (5, 2, 9, 4)]
TEXTS = [str(one) for one in UUIDS]

need_type = pytest.mark.skipif(not hasattr(pa, "uuid"), reason="this pyarrow has no UUIDs")


def _typed() -> Any:
    return pa.array([one.bytes for one in UUIDS], pa.uuid())


@pytest.mark.parametrize("make", [list, tuple, lambda ids: np.array(ids, object)])
def test_objects(make: Any) -> None:
    data = Interactions.from_arrays(make(UUIDS), [1, 2, 3, 4])
    assert data.user_ids.tolist() == sorted(TEXTS)
    assert data.user_rows(UUIDS[1]).tolist() == [sorted(TEXTS).index(TEXTS[1])]
    assert data.user_rows(UUIDS).tolist() == data.user_rows(TEXTS).tolist()


@need_type
@pytest.mark.parametrize("pieces", [1, 2])
def test_arrows_type(pieces: int) -> None:
    column = pa.chunked_array([_typed()[:2], _typed()[2:]] if pieces == 2 else [_typed()])
    data = Interactions.from_frame(pa.table({"user": column, "item": [1, 2, 3, 4]}))
    assert data.user_ids.tolist() == sorted(TEXTS)


@need_type
def test_parquet_files(tmp_path: Path) -> None:
    pq.write_table(pa.table({"user": _typed(), "item": [1, 2, 3, 4]}), tmp_path / "plays.parquet")
    data = Interactions.from_parquet(tmp_path / "plays.parquet")
    assert data.user_ids.tolist() == sorted(TEXTS)


def test_mixtures_are_refused() -> None:
    with pytest.raises(InputError, match=r"`user`.*only whole numbers, only text or only UUIDs"):
        Interactions.from_arrays([UUIDS[0], 3], [1, 2])
    with pytest.raises(InputError, match=r"`user`.*missing.*user\[1\]"):
        Interactions.from_arrays([UUIDS[0], None], [1, 2])
    with pytest.raises(InputError, match=r"`item`.*fixed_size_binary"):
        Interactions.from_frame(
            pa.table({"user": [1], "item": pa.array([b"x" * 16], pa.binary(16))})
        )

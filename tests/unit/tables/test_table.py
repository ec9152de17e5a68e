"""One reader: the head of a file, its columns by role, and where something is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pytest

from fullrank.errors import InputError
from fullrank.tables.columnar import valid_codes
from fullrank.tables.names import NAMES
from fullrank.tables.table import SUFFIXES, kind, open_table, plain

SOURCE = Path(__file__).parents[3] / "src" / "fullrank"


def put(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("user,rank\n1,2\n", ["user", "rank"]),
        ('"user, the";"rank"\n1;2\n', ["user, the", "rank"]),
        ("user\trank\n1\t2\n", ["user", "rank"]),
        ("\n\nuser|rank\n1|2\n", ["user", "rank"]),
        ("\ufeffuser,rank\n1,2\n", ["user", "rank"]),
        ("rank\n1\n", ["rank"]),
    ],
)
def test_the_header_says_what_separates_columns(
    tmp_path: Path, text: str, names: list[str]
) -> None:
    with open_table(put(tmp_path / "a.csv", text)) as table:
        assert list(table.names) == names
        assert table.whole({"x": names[0]}).num_rows == 1


def test_every_name_is_found_in_any_case(tmp_path: Path) -> None:
    for role, names in NAMES.items():
        assert len(set(names)) == len(names)
        for name in names:
            assert plain(name) == name
            with open_table(put(tmp_path / "a.csv", f"{name.upper()}\n1\n")) as table:
                assert table.guess(role) == name.upper()


def test_there_is_one_list_of_column_names() -> None:
    """No other module lists what people call the columns of users."""
    found = [
        path.name
        for path in SOURCE.rglob("*.py")
        if re.search(r'"user_?id",|"uid",', path.read_text("utf-8"))
    ]
    assert found == ["names.py"]


def test_what_is_asked_for_wins_over_a_guess(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", "user,userId,rank\n1,2,3\n")
    with open_table(path) as table:
        assert table.resolve({"user": "auto", "rank": "auto"}) == {"user": "user", "rank": "rank"}
        assert table.resolve({"user": "userId"}) == {"user": "userId"}
        assert table.resolve({"user": None, "item": "auto"}) == {}
        assert table.resolve({"user": "auto"}, without=["user"]) == {}
        with pytest.raises(InputError, match=r"`item`.*'user', 'userId', 'rank'"):
            table.resolve({"item": "auto"}, needed=["item"])


def test_the_line_of_a_row(tmp_path: Path) -> None:
    path = put(tmp_path / "a.csv", 'rank,note\n1,"two\nlines"\n\n2,x\n\n\n3,y\n')
    with open_table(path) as table:
        assert [table.where(row) for row in range(3)] == ["on line 2", "on line 5", "on line 8"]
        assert table.whole({"rank": "rank"}).column("rank").to_pylist() == [1, 2, 3]


@pytest.mark.parametrize("name", ["a.xls", "a.pt", "a", "a.csv.zip"])
def test_suffixes_that_say_nothing(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"`path` must end in \.csv.*\.npy"):
        open_table(put(tmp_path / name, b"x"))
    assert kind(tmp_path / name) not in SUFFIXES


def test_a_file_is_closed(tmp_path: Path) -> None:
    with open_table(put(tmp_path / "a.csv", "rank\n1\n")) as table:
        assert not table.handle.closed
    assert table.handle.closed


def test_a_code_without_a_word_is_refused() -> None:
    codes = pa.array([0, 1, 97, 0], pa.int32())
    column = pa.DictionaryArray.from_arrays(codes, pa.array(["a", "b"]), safe=False)
    with pytest.raises(pa.ArrowInvalid, match="97"):
        valid_codes(pa.table({"model": column}))

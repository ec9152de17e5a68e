"""The files of the publishers, in small: every form that the registry names."""

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from fullrank.data.sets import formats, parsers
from fullrank.errors import InputError
from fullrank.tables import archives

# form: the files, and the columns that must come of them
SMALL: dict[str, tuple[dict[str, str], dict[str, list[object]]]] = {
    "u.data": (
        {"u.data": "196\t242\t3\t881250949\n186\t302\t3\t891717742\n"},
        {
            "user": [196, 186],
            "item": [242, 302],
            "rating": [3, 3],
            "timestamp": [881250949, 891717742],
        },
    ),
    "ratings.dat": (
        {"ratings.dat": "1::1193::5::978300760\n6040::3952::3.5::978302109\n"},
        {
            "user": [1, 6040],
            "item": [1193, 3952],
            "rating": [5, 3.5],
            "timestamp": [978300760, 978302109],
        },
    ),
    "ratings.csv": (
        {"ratings.csv": "userId,movieId,rating,timestamp\n1,2,3.5,1112486027\r\n1,29,3.0,12\r\n"},
        {"user": [1, 1], "item": [2, 29], "rating": [3.5, 3], "timestamp": [1112486027, 12]},
    ),
    "ncf": (
        {
            "yelp.train.rating": "0\t1\t4.0\t77\n1\t0\t5.0\t78\n",
            "yelp.test.rating": "0\t3\t1.0\t9\n",
        },
        {
            "user": [0, 1, 0],
            "item": [1, 0, 3],
            "rating": [4, 5, 1],
            "timestamp": [77, 78, 9],
            "split": ["train", "train", "test"],
        },
    ),
    "lightgcn": (
        {"train.txt": "0 5 3 \n1 3\n2\n3 0\n", "test.txt": "0 7\n1 \n3 1 2\n"},
        {
            "user": [0, 0, 1, 3, 0, 3, 3],
            "item": [5, 3, 3, 0, 7, 1, 2],
            "split": ["train"] * 4 + ["test"] * 3,
        },
    ),
    "users.dat": (
        {"users.dat": "2 495 1631\n0\n1 7\n"},
        {"user": [0, 0, 2], "item": [495, 1631, 7]},
    ),
    "book-crossing": (
        {
            "BX-Book-Ratings.csv": '"User-ID";"ISBN";"Book-Rating"\n"276725";"034545104X";"0"\n'
            '"276726";"0155061224";"5"\n"9";"é\\"; 3";"10"\n'
        },
        {
            "user": [276725, 276726, 9],
            "item": ["034545104X", "0155061224", 'é"; 3'],
            "rating": [0, 5, 10],
        },
    ),
    "netflix": (
        {
            "combined_data_1.txt": "1:\n1488844,3,2005-09-06\n822109,5,1970-01-02\n2:\n"
            "3:\n7,1,2004-02-29\n",
            "combined_data_2.txt": "4500:\n7,2,2004-02-29\n",
        },
        {
            "user": [1488844, 822109, 7, 7],
            "item": [1, 1, 3, 4500],
            "rating": [3, 5, 1, 2],
            "timestamp": [1125964800, 86400, 1078012800, 1078012800],
        },
    ),
    "netflix-films": (
        {
            "mv_0000001.txt": "1:\n5,3,1970-01-02\n6,4,1970-01-03\n",
            "mv_0000002.txt": "2:\n5,1,1970-01-02\n",
        },
        {
            "user": [5, 6, 5],
            "item": [1, 1, 2],
            "rating": [3, 4, 1],
            "timestamp": [86400, 172800, 86400],
        },
    ),
    "triplets": (
        {"train_triplets.txt": "b80\tSOAKIMP12A8C130995\t1\nb80\tSOBBMDR12A8C13253B\t2\n"},
        {
            "user": ["b80"] * 2,
            "item": ["SOAKIMP12A8C130995", "SOBBMDR12A8C13253B"],
            "rating": [1, 2],
        },
    ),
    "vae": (
        {
            "train.csv": "uid,sid\n0,4\n1,2\n",
            "validation_tr.csv": "uid,sid\n2,4\n",
            "validation_te.csv": "uid,sid\n2,2\n",
            "test_tr.csv": "uid,sid\n3,2\n",
            "test_te.csv": "uid,sid\n3,4\n",
        },
        {
            "user": [0, 1, 2, 2, 3, 3],
            "item": [4, 2, 4, 2, 2, 4],
            "split": ["train", "train", "valid_fold_in", "valid", "fold_in", "test"],
        },
    ),
}


def as_bytes(name: str, text: str) -> bytes:
    return text.encode("latin1" if name.startswith("BX") else "utf8")


def as_folder(place: Path, files: dict[str, str]) -> Path:
    (place / "deep").mkdir(parents=True)
    for name, text in files.items():
        (place / "deep" / name).write_bytes(as_bytes(name, text))
    (place / "README.txt").write_text("what it is")
    return place


def as_zip(place: Path, files: dict[str, str]) -> Path:
    place.mkdir(parents=True)
    with zipfile.ZipFile(place / "data.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("deep/", "")
        archive.writestr("__MACOSX/deep/._" + next(iter(files)), b"\0\1")
        for name, text in files.items():
            archive.writestr(f"deep/{name}", as_bytes(name, text))
    return place / "data.zip"


def as_tar(place: Path, files: dict[str, str]) -> Path:
    """A packed tar with a tar in it, as Netflix's files came."""
    place.mkdir(parents=True)
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w") as archive:
        for name, text in files.items():
            add(archive, f"training_set/{name}", as_bytes(name, text))
    with tarfile.open(place / "data.tar.gz", "w:gz") as archive:
        add(archive, "download/README", b"what it is")
        add(archive, "download/training_set.tar", inner.getvalue())
    return place / "data.tar.gz"


def add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))


@pytest.mark.parametrize("packed", [as_folder, as_zip, as_tar])
@pytest.mark.parametrize("name", SMALL)
def test_every_form_from_a_folder_and_from_archives(tmp_path: Path, name: str, packed) -> None:
    files, expected = SMALL[name]
    source = packed(tmp_path / "source", files)
    form = formats.find(source, [name])
    assert form is formats.FORMATS[name]
    assert formats.read(source, form).to_pydict() == expected


def test_every_form_is_tested() -> None:
    assert set(SMALL) == set(formats.FORMATS)


def test_the_first_form_that_is_whole_is_taken(tmp_path: Path) -> None:
    files = {"a.train.rating": "0\t1\t1\n", "ratings.dat": "1::2::3::4\n"}
    source = as_folder(tmp_path / "source", files)
    assert formats.find(source, ["ncf", "ratings.dat"]) is formats.FORMATS["ratings.dat"]
    assert formats.find(source, ["u.data"]) is None
    (source / "a.test.rating").write_text("0\t2\t1\n")
    assert formats.find(source, ["ncf", "ratings.dat"]) is formats.FORMATS["ncf"]


def test_three_columns_without_times(tmp_path: Path) -> None:
    files = {"p.train.rating": "0\t0\t1\n0\t1\t1\n", "p.test.rating": "0\t2\t1\n"}
    table = formats.read(as_folder(tmp_path / "source", files), formats.FORMATS["ncf"])
    assert table.column_names == ["user", "item", "rating", "split"]


def test_gzipped_files_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "users.dat.gz").write_bytes(gzip.compress(b"1 7\n"))
    assert formats.find(tmp_path, ["users.dat"]) is not None
    table = formats.read(tmp_path, formats.FORMATS["users.dat"])
    assert table.to_pydict() == {"user": [0], "item": [7]}


def test_many_netflix_ratings_keep_their_films() -> None:
    """Blocks of a megabyte must not lose count of the lines."""
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 4_000, size=60)
    lines = []
    for film, count in enumerate(counts, 1):
        lines.append(f"{film}:\n")
        lines += [f"{user},{1 + film % 5},2005-09-06\n" for user in range(count)]
    content = "".join(lines).encode()
    assert len(content) > 2 * 2**20
    table = parsers.netflix("combined_data_1.txt", io.BytesIO(content))
    np.testing.assert_array_equal(table["item"], np.repeat(np.arange(1, 61), counts))
    np.testing.assert_array_equal(table["rating"], np.repeat(1 + np.arange(1, 61) % 5, counts))


PUBLISHED = "must be in the format that its publisher distributes; it is not: "


FILMS = "combined_data_1.txt"


@pytest.mark.parametrize(
    ("form", "files", "message"),
    [
        ("u.data", {"u.data": "1\t2\t3\n"}, f"u.data {PUBLISHED}CSV parse error: Expected 4 col"),
        ("u.data", {"u.data": "1\tx\t3\t4\n"}, f"u.data {PUBLISHED}In CSV column #1"),
        ("u.data", {"u.data": ""}, f"u.data {PUBLISHED}Empty CSV file."),
        (
            "users.dat",
            {"users.dat": "1 2\n3 4 5\n"},
            r"users\.dat.*line 2.*\b3\b.*\b2\b",
        ),
        (
            "lightgcn",
            {"train.txt": "0 1\n\n2 x\n", "test.txt": "0 1\n"},
            r"train\.txt.*numbers",
        ),
        (
            "netflix",
            {FILMS: "7,2,2004-02-29\n1:\n"},
            rf"{FILMS}.*film",
        ),
        ("netflix", {FILMS: "1:\n7,2\n"}, f"{FILMS} {PUBLISHED}CSV parse error: "),
    ],
)
def test_files_in_another_form(
    tmp_path: Path, form: str, files: dict[str, str], message: str
) -> None:
    source = as_folder(tmp_path / "source", files)
    with pytest.raises(InputError, match=message):
        formats.read(source, formats.FORMATS[form])


def test_two_files_of_one_name(tmp_path: Path) -> None:
    source = as_folder(tmp_path / "source", {"users.dat": "1 2\n"})
    (source / "users.dat").write_text("1 3\n")
    with pytest.raises(InputError, match=r"users\.dat.*\b2\b"):
        formats.read(source, formats.FORMATS["users.dat"])


def test_archives_are_found_by_content_alone(tmp_path: Path) -> None:
    source = as_zip(tmp_path / "source", SMALL["users.dat"][0])
    assert archives.names(source, ["*.dat"]) == ["users.dat"]

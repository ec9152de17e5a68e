"""The page as text: self-contained, escaped, in order."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import fullrank as fr
from fullrank.reporting import Report
from fullrank.reporting.parts import Table
from fullrank.samples import simulate


class Reader(HTMLParser):
    """The elements, their attributes and the text outside scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.raw: dict[str, list[str]] = {"script": [], "style": []}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "img", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        here = self.open[-1] if self.open else ""
        self.raw[here].append(data) if here in self.raw else self.text.append(data)


@pytest.fixture(scope="module")
def pages(fixed: Report, hostile: Report, need: Any) -> dict[str, Reader]:
    need("jinja2")
    return {"fixed": Reader(fixed.to_html()), "hostile": Reader(hostile.to_html())}


@pytest.mark.parametrize("name", ["fixed", "hostile"])
def test_nothing_is_loaded_from_anywhere(pages: dict[str, Reader], name: str) -> None:
    page = pages[name]
    for tag, attributes in page.tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base")
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith("#")
        assert not any(key.startswith("on") for key in attributes)
    assert "url(" not in "".join(page.raw["style"])
    policy = next(a["content"] for t, a in page.tags if "http-equiv" in a)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert page.open == []  # every element is closed


def test_the_elements_do_not_depend_on_names(pages: dict[str, Reader]) -> None:
    tags = [tag for tag, _ in pages["hostile"].tags]
    assert tags.count("script") == 2
    assert tags.count("b") == tags.count("i") == 0


def test_names_are_shown_as_they_are(pages: dict[str, Reader], hostile: Report) -> None:
    text = " ".join(pages["hostile"].text)
    for model in hostile.models:
        assert model.name in text
    assert "49" not in hostile.models[2].name  # {{ 7*7 }} is no template
    assert r"\u202eright\x00\x07 to left" in text  # nothing that turns or ends a text


def test_figures_travel_as_json_that_cannot_end_its_script(
    pages: dict[str, Reader], hostile: Report
) -> None:
    text = pages["hostile"].raw["script"][0]
    assert not re.search(r"[<>&]", text)
    data = json.loads(text)
    assert set(data["tips"]) == set(hostile.figures)
    names = {one["name"] for one in data["tips"]["recall"]}
    assert names == {model.name for model in hostile.models}
    assert set(data["csv"]) == {*hostile.figures, "metrics-table", "comparison-table"}


def _csv(page: Reader, name: str) -> list[list[str]]:
    text = json.loads(page.raw["script"][0])["csv"][name]
    return list(csv.reader(io.StringIO(text, newline="")))


def test_the_csv_of_the_metrics_has_every_digit(pages: dict[str, Reader], fixed: Report) -> None:
    head, *rows = _csv(pages["fixed"], "metrics-table")
    assert head[:3] == ["model", "metric", "naive"]
    told = [dict(zip(head, row, strict=True)) for row in rows]
    for one, record in zip(told, fixed.records(), strict=True):
        for name, value in record.items():
            assert one[name] == (value if isinstance(value, str) else repr(value))
    head, *rows = _csv(pages["fixed"], "comparison-table")
    assert [row[1] for row in rows] == ["new", "old"] * 2
    assert float(rows[0][head.index("p_best")]) == fixed.comparison.p_best[1, 0]


def test_a_spreadsheet_finds_numbers_and_no_formula() -> None:
    rows = (
        ('=HYPERLINK("x")', "1,234", "12.5 %", "−0.0123", "–"),
        ("@a", "+1+1", "-b", "2–3", "< 0.001"),
        ("a,b", 'say "x"', "0.10", "", "over 99 %"),
    )
    table = Table(name="t", caption="t", head=("a", "b", "c", "d", "e"), groups=((None, rows),))
    assert list(csv.reader(io.StringIO(table.to_csv(), newline="")))[1:] == [
        ['\'=HYPERLINK("x")', "1234", "0.125", "-0.0123", ""],
        ["'@a", "'+1+1", "'-b", "2–3", "< 0.001"],
        ["a,b", 'say "x"', "0.10", "", "over 99 %"],
    ]


@pytest.mark.parametrize("head", ["model", "over"])
def test_the_names_of_models_are_no_numbers(head: str) -> None:
    names = ("1,2", "50 %", ",%", "−1", "–")
    rows = tuple((name, "1,234", "−0.5 %") for name in names)
    table = Table(name="t", caption="t", head=(head, "12 %", "=b"), groups=((None, rows),))
    first, *others = csv.reader(io.StringIO(table.to_csv(), newline=""))
    assert first == [head, "12 %", "'=b"]
    assert others == [[name, "1234", "-0.005"] for name in names]
    plain = replace(table, csv_head=("model", "x"), csv_rows=(("1,2", 0.5), ("=a", None)))
    assert plain.to_csv() == 'model,x\r\n"1,2",0.5\r\n\'=a,\r\n'


@pytest.mark.parametrize(("name", "most"), [("fixed", 300_000), ("hostile", 500_000)])
def test_a_page_is_small(
    fixed: Report, hostile: Report, many: Report, name: str, most: int
) -> None:
    report = {"fixed": fixed, "hostile": hostile}[name]
    assert len(report.to_html().encode()) < most
    assert len(many.to_html().encode()) < 1_500_000


def test_the_answer_comes_before_the_figure_and_the_figure_before_the_tables(
    fixed: Report,
) -> None:
    page = fixed.to_html().replace("\u00a0", " ")
    order = [
        page.index(f">{fixed.title.replace('&', '&amp;')}</h1>"),
        page.index("2024-02-29</span>"),
        *(page.index(escape(one[:40])) for one in fixed.summary[:3]),
        page.index('id="figure-metrics"'),
        page.index('id="metrics"'),
        page.index("Metrics of each model"),
        page.index('id="comparison"'),
        page.index('id="recall"'),
    ]
    assert order == sorted(order)
    assert "<span>simulated, 100 of 2,000</span>" in page
    assert "<span>400 users</span>" in page
    assert "<span>ranked among 100 of 2,000 items, drawn at random</span>" in page


def test_titles_name_the_data(kit: Any) -> None:
    ranks = {name: kit.exact_ranks(kit.ranks_of(p, n=50)) for name, p in (("a", 3.0), ("b", 2.0))}
    for data, title in (
        ("ml-1m: 50 evaluated users, 50 targets", "2 models on ml-1m"),
        ("as given: 50 evaluated users", "2 models on the full catalogue"),
        ("", "2 models on the full catalogue"),
    ):
        report = fr.report(ranks, metrics="recall@10", measured={"data": data}, rng=0)
        assert report.title == title
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", report.date)


def test_headings_are_in_order_and_sections_named(pages: dict[str, Reader]) -> None:
    for page in pages.values():
        levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(b <= a + 1 for a, b in pairwise(levels))
        ids = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
        for tag, attributes in page.tags:
            if tag == "section":
                assert attributes["aria-labelledby"] in ids
            if tag == "a":
                assert attributes["href"][1:] in ids
    tags = [tag for tag, _ in pages["fixed"].tags]
    assert [tags.count(tag) for tag in ("header", "nav", "main", "footer")] == [1, 1, 1, 1]


def test_every_figure_has_words_and_a_table(pages: dict[str, Reader], fixed: Report) -> None:
    page = pages["fixed"]
    alternatives = [a["aria-label"] for _, a in page.tags if a.get("role") == "img"]
    # of two drawings for two widths of a page, one is shown
    assert set(alternatives) == {figure.alternative for figure in fixed.figures.values()}
    assert all(len(one) > 30 for one in alternatives)
    tags = [tag for tag, _ in page.tags]
    assert tags.count("caption") == tags.count("table")
    # the metrics, the comparison, and one for each figure
    assert tags.count("table") == len(fixed.figures) + 2
    assert all("scope" in a for tag, a in page.tags if tag == "th")


def test_parts_that_do_not_apply_leave_no_trace(kit: Any, need: Any) -> None:
    need("jinja2")
    sample = simulate(kit.ranks_of(3.0, n=60), n_items=kit.n_items, design="sampled:100", rng=0)
    report = fr.report({"mine": sample}, metrics="recall@10", bounds=False)
    page = Reader(report.to_html())
    ids = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
    assert not ids & {"comparison", "blind", "efficiency", "figure-winner"}
    assert {"summary", "metrics", "recall", "ranks", "measured"} <= ids


def test_the_page_says_how_it_was_measured_and_how_to_cite(
    pages: dict[str, Reader], fixed: Report
) -> None:
    text = " ".join(pages["fixed"].text)
    bare = re.sub(r"\s", "", text)  # words in backticks are elements of their own
    for label, value in fixed.measured.items():
        assert label in text
        assert re.sub(r"[\s`]", "", value) in bare
    assert "@software{fullrank," in text
    assert "author  = {{The fullrank contributors}}" in text
    assert "On sampling top-K recommendation evaluation" in text  # the mapping is shown
    assert "Towards reliable item sampling" not in text  # nothing adaptive here
    assert "Towards reliable item sampling" in " ".join(pages["hostile"].text)


def test_words_in_backticks_are_shown_as_code_and_stay_text() -> None:
    from fullrank.reporting.escaping import as_code

    safe = pytest.importorskip("markupsafe")
    shown = as_code("The `a<b>` of 3 < 4 users", safe)
    assert shown == "The <code>a&lt;b&gt;</code> of 3 &lt; 4 users"
    assert as_code("one ` alone & <b>", safe) == "one ` alone &amp; &lt;b&gt;"
    whole = '(<span class="option">--no-anchor</span> or <code>a--b</code>)'
    assert as_code("(--no-anchor or `a--b`)", safe) == whole


def _compared(values: list[float], chances: list[float]) -> Any:
    """Three models at the first metric: their values, and their chances of being the best."""
    random = np.random.default_rng(0)
    ranks = {name: random.integers(1, 200, 300) for name in "abc"}
    given = {name: {"recall@10": (one <= 10).astype(float)} for name, one in ranks.items()}
    found = fr.compare(given, "recall@10", rng=0)
    return replace(found, estimate=np.array([values]).T, p_best=np.array([chances]).T)


@pytest.mark.parametrize(
    ("values", "chances", "named", "says"),
    [
        ([0.1, 0.3, 0.2], [0.0, 0.9, 0.1], "b", None),
        (
            [0.1, 0.3, 0.2],
            [0.3, 0.4, 0.3],
            None,
            "b has the highest value, but its P(best) is only 40 %",
        ),
        ([0.1, 0.3, 0.2], [0.0, 0.4, 0.6], None, "b has the highest value, c the highest P(best)"),
        ([0.3, 0.3, 0.3], [1 / 3, 1 / 3, 1 / 3], None, "3 models share the highest value"),
    ],
)
def test_bold_summary_and_p_best_agree(
    kit: Any, values: list[float], chances: list[float], named: str | None, says: str | None
) -> None:
    """By one rule: where it names a model all three do, and where it does not none does."""
    compared = _compared(values, chances)
    report = fr.report(
        {
            name: _with_value(kit, value)
            for name, value in zip("abc", values, strict=True)
        },
        comparison=compared,
        bounds=False,
    )  # fmt: skip
    page = report.to_html()
    for table in ("Metrics of each model", "Comparison of the models by each metric"):
        rows = page.split(f'<caption class="hidden">{table}</caption>')[1].split("</table>")[0]
        bold = re.findall(
            r'<tr>\s*<th scope="row">(\w+)</th>(?:<td>[^<]*</td>)*<td class="best">', rows
        )
        assert bold == ([] if named is None else [named]), table
        # in its own column: the value, and never naive, bounds or exact
        cells = re.findall(r'<td class="best">([\d.]+)</td>', rows)
        assert cells == [f"{max(values):.4f}"] * len(bold)
    assert page.count('class="best"') == (0 if named is None else 2)
    strong = [one.name for one in report.figures["metrics"].series if one.strong]
    assert strong == ([] if named is None else [named])
    told = " ".join(report.summary)
    assert compared.leader("recall@10").named == named
    if named is None:
        assert says is not None
        assert f"No model can be named best by recall@10: {says}" in told
        assert f"No model can be named best by recall@10: {says}" in str(compared)
        assert "most likely the best" not in told
    else:
        assert f"{named} is most likely the best by recall@10" in told
        assert "No model can be named" not in told + str(compared)


def _with_value(kit: Any, value: float) -> Any:
    sample = simulate(kit.ranks_of(3.0, n=60), n_items=kit.n_items, design="sampled:200", rng=0)
    found = fr.estimate(sample, metrics="recall@10")
    return replace(found, values={"recall@10": value})

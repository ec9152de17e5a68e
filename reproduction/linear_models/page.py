"""The page of the study of linear models, from nothing but its JSON."""

from __future__ import annotations

from typing import Any

from reproduction.linear_models.figures import NAME
from reproduction.linear_models.published import BASIC, COMPARED, SEARCHES, UNITS
from reproduction.linear_models.search import published_best
from reproduction.linear_models.tables import shares
from reproduction.outcome import ALIKE
from reproduction.study import table

_HOLDS = {True: "holds", False: "does not hold", None: "holds in part"}
FOLDED = ("MF, users folded in", "WMF, users folded in")


def page(content: dict[str, Any]) -> str:
    here = {name: one for name, one in content["data"].items() if "missing" not in one}
    return f"""# Linear models for users who were not learned from

Chapter 3 of the dissertation (003) and its appendix A.1. Users are held out for validation and
test; of each, 80 % of the items are shown and not ranked, and the rest is asked about. Settings
are chosen by NDCG@100 on the validation users; the figures are of the test users, with the
standard error over them. Recall@K is over min(K, number of targets), as in the published code.

{_data(content["data"])}

{_absent(content)}

## Tables 8 and 9: the basic models

{_basic(here)}

What differs: the data. MF and WMF are fitted on what is shown of the held-out users too, as in
003, which calls this an advantage; the last two rows are fitted on the training users alone and
meet the others as EASE and LRR do. WMF is `IALS` with Hu's confidence C and λ, ten epochs.
{_order(here, ("Table 8", "Table 9"))}

{_says(content, "003 Table 8")}

{_says(content, "003 Table 9")}

## Table 10: learned hyper-parameters, nearby models, deep models

{_compared(here)}

What differs: the data; every model is tuned here, where 003 took SLIM, CDAE, MultiDAE and MultiVAE
from other papers and a λ for LRR that it calls not the best (appendix A.1.2). λ: a regularisation
for every singular vector, c = λ/8; HT: head and tail; RMD: without the diagonal. All are learned by
one epoch of BPR (batches of 2,048, dropout ½); 003 does not give its steps, rates, t or the
threshold of the sparsified model. EDLAE has the rank that 1,000 is of ML-20M's catalogue. CDAE has
a vector for every user and is fitted as MF is.
{_order(here, ("Table 10, ML-20M", "Table 10, Netflix"))}

{_says(content, "003 Table 10")}

{_images(here, "models", "NDCG@100 of every model beside EASE, with two standard errors, on")}

Table 18 (MSD): {_msd(here)}

## Tables 14–17: parameter searches

{_best_settings(here)}

{_searches(here)}

{_list(content, *(f"003 {table}" for table in SEARCHES))}

{_images(here, "searches", "Share of the best NDCG@100 along λ, published and on")}

## Figure 11: what becomes of the singular values

{_images(here, "figure11", "What LRR and MF leave of the singular values of")}

{_says(content, "003 Figure 11")}

## Figure 12: a λ for each singular vector

{_images(here, "figure12", "Learned λ of each singular vector beside the constant, on")}

{_says(content, "003 Figure 12")}

## The statements of the chapter

Those that name a table are read from its figures; the others are in the text.

{_claims(content["claims"])}

± is a standard error over test users, of the difference between two models on the same users. A
statement about gains holds where all are above 0 and one by more than two standard errors. It does
not where one is below by as much, or most are below; between, it holds in part: the models are
hardly told apart. One about several cases holds if it is so in nine of ten, and in part from a
half. Of several data sets it holds on all, or in part.

## Settings

{_settings(here)}

{_seconds(here)}
"""


def _data(data: dict[str, Any]) -> str:
    rows = [
        (name, one["says"], *(f"{one[key]:,}" for key in _COUNTS))
        for name, one in data.items()
        if "missing" not in one
    ]
    head = ["data", "kept", "training users", "validation", "test", "items", "interactions"]
    return table(head, rows)


_COUNTS = ("n_train_users", "n_valid_users", "n_test_users", "n_items", "n_interactions")


def _absent(content: dict[str, Any]) -> str:
    absent = [name for name, one in content["data"].items() if "missing" in one]
    if not absent:
        return ""
    return (
        f"Not here: {', '.join(absent)}. Where they lie in FULLRANK_DATA, `python "
        "benchmarks/studies/linear_models.py --data NAME` adds their columns. "
        f"{content['stand_in']} stands in for them: values of other data cannot be "
        "the published ones, so that no cell is counted: what each table is there to show is put "
        "to the test."
    )


def _cells(values: tuple[float, ...] | None) -> str:
    return " / ".join(f"{value:.3f}" for value in values) if values else "–"


def _found(one: dict[str, Any], model: str) -> str:
    if model not in one["models"]:
        return "–"
    test = one["models"][model]["test"]
    largest = max(cell["se"] for cell in test.values())
    return " / ".join(f"{cell['mean']:.3f}" for cell in test.values()) + f" (± {largest:.3f})"


def _basic(here: dict[str, Any]) -> str:
    rows = [
        (
            model,
            *(_cells(BASIC[data][model][1]) if model in BASIC[data] else "–" for data in BASIC),
            *(_found(one, model) for one in here.values()),
        )
        for model in (*BASIC["ML-20M"], *FOLDED)
    ]
    head = ["Recall@20 / Recall@50 / NDCG@100", *(f"published, {data}" for data in BASIC), *here]
    return table(head, rows)


def _compared(here: dict[str, Any]) -> str:
    sets = ("ML-20M", "Netflix")
    rows = [
        (
            model,
            *(_cells(COMPARED[data].get(model)) for data in sets),
            *(_found(one, model) for one in here.values()),
        )
        for model in COMPARED["ML-20M"]
    ]
    head = ["Recall@20 / Recall@50 / NDCG@100", *(f"published, {data}" for data in sets), *here]
    return table(head, rows)


def _order(here: dict[str, Any], tables: tuple[str, ...]) -> str:
    apart = f"Order, of the pairs of models that are published more than {100 * ALIKE:g} % apart:"
    lines = ["", apart, ""]
    for name, one in here.items():
        for which in tables:
            found = one["pairs"][which]
            lines.append(
                f"- {which} on {name}: {found['same']} of {found['pairs']} pairs as published, "
                f"{found['clearly_against']} the other way by more than two standard errors"
                f"{_lost(found['lost'])}."
            )
    return "\n".join(lines)


def _lost(lost: list[list[str]]) -> str:
    """Pairs that are the other way in all three metrics, the first few."""
    pairs = [(high, low) for _, high, low in lost]
    always = [pair for pair in dict.fromkeys(pairs) if pairs.count(pair) == 3]
    if not always:
        return ""
    told = "; ".join(f"{high} over {low}" for high, low in always[:6])
    more = f"; and {len(always) - 6} more" if len(always) > 6 else ""
    return f" (published, and turned round here in all three metrics: {told}{more})"


def _msd(here: dict[str, Any]) -> str:
    own = [one for one in here.values() if one["published_as"] == "MSD"]
    if not own:
        return "the Million Song Data are not here."
    rows = [
        (model, _cells(values), _found(own[0], model)) for model, values in COMPARED["MSD"].items()
    ]
    return "\n\n" + table(["Recall@20 / Recall@50 / NDCG@100", "published", "measured"], rows)


def _best_settings(here: dict[str, Any]) -> str:
    """The best λ in the unit in which data sets can be compared."""
    rows = []
    for name, published in SEARCHES.items():
        row, column = published_best(published)
        k, penalty = published["ranks"][row], published["penalties"][column]
        unit = UNITS[published["data"]]
        rows.append(_best_row(f"{published['data']}, {name}", published["model"], k, penalty, unit))
    for name, one in here.items():
        for model in ("MF", "LRR"):
            chosen = one["models"][model]["chosen"]
            k, penalty = chosen["n_factors"], chosen["regularization"]
            rows.append(_best_row(name, model, k, penalty, one["unit"]))
    text = (
        "The best on the validation users. The unit of λ is the mean squared singular value "
        "(interactions per item) for LRR, and its root for MF:"
    )
    return f"{text}\n\n{table(['data', 'model', 'k', 'λ', 'λ in units'], rows)}"


def _best_row(data: str, model: str, k: int, penalty: float, unit: float) -> tuple[str, ...]:
    own = unit if model == "LRR" else unit**0.5
    return data, model, f"{k:,}", f"{penalty:,g}", f"{penalty / own:.1f}"


def _searches(here: dict[str, Any]) -> str:
    says = (
        "NDCG@100 of the validation users in percent of the best of its table, published → here. "
        "Where the data are others, the published grid is laid around the best λ found here, at "
        "the same multiples of it, and k takes the same part of the catalogue."
    )
    parts = [says]
    for name, one in here.items():
        for which, published in SEARCHES.items():
            found = one["searches"][published["model"]].get(which)
            if found is None:
                continue
            rows = [
                (
                    f"k {k:,} → {own:,}",
                    *(f"{100 * a:.1f} → {100 * b:.1f}" for a, b in row),
                )
                for k, own, row in zip(
                    published["ranks"], found["ranks"], shares(published, found), strict=True
                )
            ]
            head = [
                f"{a:,g} → {b:,g}"
                for a, b in zip(published["penalties"], found["penalties"], strict=True)
            ]
            title = f"**{which}: {published['model']} on {published['data']}, here {name}**"
            parts.append(f"{title}\n\n{table(['λ', *head], rows)}")
    return "\n\n".join(parts)


def _images(here: dict[str, Any], which: str, words: str) -> str:
    return "\n\n".join(f"![{words} {name}]({NAME}-{which}-{name}.svg)" for name in here)


def _says(content: dict[str, Any], item: str) -> str:
    (found,) = [one for one in content["tables"] if one["item"] == item]
    head = f"**{item}: {found['state']}"
    if "why" in found:
        return f"{head}.** {found['why'][0].upper()}{found['why'][1:]}."
    differs = f" ({found['differs']})" if found["differs"] else ""
    if "says" not in found:
        return f"{head}**, {found['within']} of {found['cells']} cells within the limits{differs}."
    there = f"; there, {found['data']}, it {_HOLDS[found['holds']]}" if "holds" in found else ""
    return f"{head}{there}.** {found['says'][0].upper()}{found['says'][1:]}{differs}."


def _list(content: dict[str, Any], *items: str) -> str:
    return "\n".join(f"- {_says(content, item)}" for item in items)


def _claims(claims: list[dict[str, Any]]) -> str:
    rows = [(one["says"], _HOLDS[one["holds"]], one["found"]) for one in claims]
    return table(["statement", "here", "found"], rows)


def _settings(here: dict[str, Any]) -> str:
    rows = [
        (name, model, f"{one['tried']}", _told(one["chosen"]), one["fitted_on"], one["seconds"])
        for name, data in here.items()
        for model, one in data["models"].items()
    ]
    return table(["data", "model", "tried", "chosen", "fitted on", "seconds"], rows)


def _seconds(here: dict[str, Any]) -> str:
    told = ", ".join(f"{one['fit_seconds']:,} s on {name}" for name, one in here.items())
    return f"All fits together took {told}, when they were made; a run takes those that are kept."


def _told(settings: dict[str, Any]) -> str:
    words = []
    for key, value in settings.items():
        if isinstance(value, dict):
            words.append(f"{key} ({_told(value)})")
        elif not isinstance(value, bool):  # those are in the name of the model
            words.append(f"{key} {value:g}")
    return ", ".join(words)

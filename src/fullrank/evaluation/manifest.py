"""The manifest of a run, and the check that it is the requested run."""

from __future__ import annotations

import hashlib
import json
import math
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fullrank._lib import checks
from fullrank.errors import InputError
from fullrank.metrics import parse_all

if TYPE_CHECKING:
    from fullrank.evaluation.result import Evaluation

FORMAT = 2  # of 1, users were row numbers
KIND = "Evaluation"
MANIFEST, RESULTS, REPORT = "run.json", "results.json", "report.html"
RANKS = "ranks"


def file_names(names: Sequence[str]) -> dict[str, str]:
    """Return a file name for each model: its name if that is safe, otherwise a part and a checksum.

    Examples
    --------
    >>> file_names(["ease", "../etc", "Ease"])
    {'ease': 'ease.parquet', '../etc': 'etc-53dac9b2.parquet', 'Ease': 'Ease-5a9056e7.parquet'}
    """
    found: dict[str, str] = {}
    used: set[str] = set()
    for name in names:
        plain = re.sub(r"[^\w.-]+", "-", name[:60], flags=re.ASCII).lstrip(".-") or "model"
        if plain != name or plain.lower() in used:
            plain += "-" + hashlib.blake2b(name.encode(), digest_size=4).hexdigest()
        while plain.lower() in used:
            plain += "-"
        used.add(plain.lower())
        found[name] = f"{plain}.parquet"
    return found


def manifest(
    evaluation: Evaluation, files: Mapping[str, str], sums: Mapping[str, str], report: bool
) -> dict[str, Any]:
    """Return the content of ``run.json``; `sums` are the checksums of the files."""
    about = {k: v for k, v in evaluation.about.items() if k != "models"}
    told = {one["name"]: one for one in evaluation.about.get("models", ())}
    models = [
        {
            **told.get(name, {"name": name}),
            "ranks": f"{RANKS}/{files[name]}",
            "checksum": sums[name],
        }
        for name in evaluation.samples
    ]
    ends = {"results": RESULTS, "report": REPORT if report else None}
    head = {
        "format": FORMAT,
        "kind": KIND,
        "metrics": list(evaluation.metrics),
        "confidence_level": evaluation.confidence_level,
    }
    return {**about, **head, "models": models, **ends}


def asked_of(head: Mapping[str, Any]) -> dict[str, Any]:
    """Return the requested settings in a manifest."""
    asked = {key: value for key, value in head.items() if key in head.get("asked", ())}
    asked["models"] = [
        {key: value for key, value in one.items() if key not in ("ranks", "checksum")}
        for one in head["models"]
    ]
    return asked


def check_same(
    folder: Path, there: Mapping[str, Any], here: Mapping[str, Any], *, finished: bool = False
) -> None:
    """Refuse other settings than those of the run in the folder, and say what differs."""
    then, now = _flat(there), _flat(json.loads(as_json(here)))
    if then.get("models") != now.get("models"):  # of other models the settings tell nothing
        then, now = ({k: v for k, v in one.items() if k[:6] != "model "} for one in (then, now))
    differ = [
        f"{key} (then: {_brief(then.get(key))}; now: {_brief(now.get(key))})"
        for key in dict.fromkeys((*now, *then))
        if then.get(key) != now.get(key)
    ]
    if differ:
        hint = ""
        if [one.partition(" (")[0] for one in differ] == ["metrics"]:
            first = "" if finished else "finish the run with the original metrics, and "
            typed = shlex.quote(checks.printable(folder))
            hint = (
                f" Ranks do not depend on metrics: {first}compute others with `fullrank estimate "
                f"{typed} -m NAME@K` or `fullrank report`."
            )
        raise InputError(
            "`out` must be a new folder, or the folder of a run with the same settings; the run in "
            f"{checks.printable(folder)} differs in {', '.join(differ)}.{hint}"
        )


def _flat(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by themselves: "data n_users", "model ease settings", …."""
    flat: dict[str, Any] = {}
    for key, value in asked.items():
        if key == "models":
            flat["models"] = ", ".join(one["name"] for one in value)
            for one in value:
                flat |= {f"model {one['name']} {k}": v for k, v in one.items() if k != "name"}
        elif isinstance(value, Mapping):
            flat |= {key if k == "name" else f"{key} {k}": v for k, v in value.items()}
        else:
            flat[key] = value
    return flat


def _brief(value: Any) -> str:
    text = "none" if value is None else shown(value)
    return text if len(text) <= 160 else f"{text[:157]}..."


def as_json(content: Any) -> bytes:
    """Return JSON as it is written to files."""
    return (json.dumps(known(content), indent=1, ensure_ascii=False) + "\n").encode()


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the content of ``run.json``, checked."""
    path = folder / MANIFEST
    if not folder.is_dir() or not path.is_file():
        raise InputError(
            f"`folder` must be a folder written by `evaluate`; {folder} has no {MANIFEST}."
        )
    try:
        head = json.loads(path.read_text("utf-8"))
        if head["kind"] != KIND:
            raise InputError(f"`folder` must hold an {KIND}; {path} describes something else.")
        if head["format"] != FORMAT:
            raise InputError(
                f"`folder` must have format {FORMAT}; {path} has format {head['format']!r}: it was "
                f"written by {'an older' if head['format'] == 1 else 'a newer'} fullrank version."
            )
        names = [one["name"] for one in head["models"]]
        files = [one["ranks"] for one in head["models"]]
        _check_registered(folder, head["metrics"])
        head["confidence_level"] = checks.real("confidence_level", head["confidence_level"])
        whole = bool(names) and all(isinstance(one, str) for one in (*names, *files))
    except InputError:
        raise
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"`folder` must hold a complete {MANIFEST}; {path} is damaged.") from error
    # a manifest is text that anyone can change: it names no file outside of its folder
    if not whole or not all(
        re.fullmatch(r"ranks/[\w.-]+\.parquet", one, re.ASCII) for one in files
    ):
        raise InputError(f"`folder` must hold a complete {MANIFEST}; {path} is damaged.")
    return dict(head)


def _check_registered(folder: Path, metrics: Any) -> None:
    """Say where a metric may come from that is not registered here."""
    for name in metrics:
        try:
            parse_all(name)
        except InputError as error:
            raise InputError(
                f"`folder` must have only registered metrics; {checks.shown(name)} in {folder} is "
                "not registered. Import the file that registers it or, on the command line, name "
                "that file: fullrank --plugin FILE …."
            ) from error


def known(content: Any) -> Any:
    """Return the content without NaN and infinity, which JSON cannot represent."""
    if isinstance(content, float):
        return content if math.isfinite(content) else None
    if isinstance(content, Mapping):
        return {key: known(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [known(value) for value in content]
    return content


def shown(value: Any) -> str:
    """Return a setting as text."""
    if isinstance(value, Mapping):
        name = value.get("name", "")
        rest = ", ".join(f"{k}={v}" for k, v in value.items() if k != "name" and v is not None)
        return f"{name} ({rest})" if name and rest else str(name or rest)
    return str(value)

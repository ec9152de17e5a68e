"""The README's example runs as it stands."""

import re
from pathlib import Path

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_python_runs_and_prints(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    out = capsys.readouterr().out
    assert "'recall@10'" in out  # the exact metrics
    assert out.count("full catalogue") == 2  # the two estimates


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    local = [link for link in links if "://" not in link]
    assert local
    for link in local:
        assert (Path(__file__).parents[2] / link).exists(), link

"""Find words that this project avoids in text for its readers.

    python tools/words.py              every finding in the project
    python tools/words.py FILE ...     the findings in these files
    python tools/words.py --count      how often each entry of the list is found
    python tools/words.py --update     lower the allowed counts to the present ones

A finding is printed as `path:line: "found" -> what to write instead`. The list `WORDS` is the data;
CONTRIBUTING.md, "Style", gives the reasons.

The check reads docstrings of public modules, classes, functions and methods; strings passed to an
exception, to a warning or as `help=`; every other string of two words or more, among them labels,
heads of tables and notes; the report's templates and scripts; the examples; the titles in
mkdocs.yml; the description in pyproject.toml; CITATION.cff; and the prose of the Markdown pages.
Parts of a string that are joined, by `+` or side by side, are read as one text. Code is skipped,
doctests and names of parameters included.

Text that is older than an entry is tolerated: tools/words_known.json holds, for the sources, the
pages and the studies, how often each entry may occur. Counts may fall but not rise. They are
totals, so moving a file or a paragraph changes nothing.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
KNOWN = Path(__file__).with_name("words_known.json")


class Word(NamedTuple):
    """A pattern, and what to write instead.

    A pattern matches whole words in any case; a blank in it matches any white space.
    """

    pattern: str
    say: str


WORDS = (
    # -- Papers. Numbers such as 003 are files of a private folder.
    Word(r"\(00[0-4](?=[;,)])"
         r"|\b00[0-4](?=,? (?:Table|Figure|Theorem|Algorithm|section|equation|chapter|took))",
         "author and year"),
    # -- Runs
    Word(r"(?:go|goes|going|gone|went) on(?! top)", "resume (a run), continue"),
    Word(r"started again with the same", "resumed with the same"),
    Word(r"(?:is|are|was|were|be) done again", "retried, repeated"),
    Word(r"anew", "again, or from scratch"),
    Word(r"for ever", "permanently, or in every version"),
    Word(r"in any company", "whoever else is ranked"),
    Word(r"for want of", "because there is too little"),
    Word(r"if need be", "if missing, or if needed"),
    Word(r"of ours", "of fullrank; for a fault: a bug in fullrank"),
    Word(r"(?:must|was|were) asked(?=[.;:,])", "set, requested"),
    Word(r"must be asked", "repeat the original settings"),
    Word(r"which came to|came to \d\S*", "resolved to, was"),
    Word(r"like nothing else", "unique"),
    Word(r"(?:be|is|are) had", "obtained, available"),
    Word(r"put right", "fix"),
    # -- Samples, ranks, statistics
    Word(r"stands? for|stood for", "covers (ranks); means, represents"),
    Word(r"(?:stands?|stood) (?:above|below|before|beside|first|among|in the order)",
         "is above, ranks above"),
    Word(r"as (?:it|they) stands?", "as it is, unchanged"),
    Word(r"lean(?:s|ing)? on", "depends on"),
    Word(r"(?:target|itself) (?:is )?counted", "including the target"),
    Word(r"licensed|licenses", "valid (a licence is for data and code)"),
    # "blind spot" is the term of Li et al. (2023) and stays
    Word(r"blind(?! spot|-spot)", "not identified by the sample"),
    Word(r"several targets", "multi-target, or more than one target"),
    Word(r"exhaust(?:ed|s)", "complete (a sample), full"),
    Word(r"taken to be", "assumed to be"),
    Word(r"were to be expected", "are expected"),
    Word(r"tells? (?:no|nothing|much|little|all about)", "does not show, shows"),
    # "cannot tell rank 1 from rank 2" is plain English; the verb without an object is not
    Word(r"(?:sample|candidates) (?:cannot|could not|can|do|does) tell(?=[.,;:)?]|$| in| and)",
         "is not informative about, or cannot show"),
    Word(r"as far as (?:\w+ ){1,4}(?:asks?|tells?|can tell)", "as chosen by, or as shown by"),
    Word(r"than (?:its|their|the) (?:own )?(?:error|spread|interval) (?:says|tells)",
         "than its standard error shows"),
    Word(r"plain word", "clear warning"),
    Word(r"(?:the|a) sample allows", "consistent with the sample; bounds"),
    Word(r"the least (?:and|or) the largest|the least (?:metric|value)",
         "the smallest and largest"),
    Word(r"users like (?:these|them)", "the population of users"),
    Word(r"stood", "was, ranked"),
    Word(r"compared as (?:if )?(?:measured|different)", "compared without pairing"),
    Word(r"(?:users|be|are) drawn again", "resampled"),
    Word(r"the likelier", "more likely"),
    Word(r"what (?:it|that|this|they) (?:is|are) worth", "whether it is valid"),
    Word(r"as it reads", "the naive metric"),
    Word(r"for contrast", "for comparison"),
    Word(r"(?:too|it is) bold", "overconfident"),  # "the highest is bold" is typography
    Word(r"many a(?! little)", "many"),
    Word(r"(?:not|hardly) feel", "is not affected by"),
    Word(r"pays? for bending|price of bending", "penalises curvature"),
    Word(r"can be paid for", "the budget covers"),
    Word(r"risks? (?:the )?least", "is the safest choice"),
    Word(r"only a hint", "unreliable"),
    Word(r"even with every item sampled", "stays biased even when every item is sampled"),
    Word(r"gives others", "differs from"),
    Word(r"counting no bias", "ignoring bias"),
    Word(r"would have named", "would have picked"),
    Word(r"in disguise", "equivalent to"),
    Word(r"is to be found", "to detect"),
    Word(r"users there are", "number of users"),
    Word(r"(?:shards|parts|samples) add(?=[.,;|]|$)|it adds(?=[:;.)]|$)", "can be added"),
    Word(r"asked about", "evaluated, held out"),
    Word(r"(?:items?|targets?|candidates?|files?|estimators?|bytes|[kMG]B)"
         r" an? (?:user|model|file|item|thread|target|level)"
         r"(?! (?:has|had|is|was|in|can|could|may))",
         "per user, per item"),
    # -- Defaults, arguments, errors
    Word(r"nothing (?:else )?is (?:said|asked)|if unsaid|unless said|as said|nobody said|said here",
         "default; as given"),
    Word(r"(?:must|can|cannot|could|should) be said", "given, supplied; stated"),
    Word(r"(?:if|;) left out", "if omitted; by default"),
    Word(r"what else should be known", "further remarks"),
    Word(r"(?:taken|take|takes) for granted", "assumed"),
    Word(r"whole or not at all", "completely or not at all"),
    Word(r"(?:two|three) \w+ or more", "at least two users"),
    Word(r"add only if", "can be added only if"),
    Word(r"users? (?:are|is) not named", "have no ids"),
    Word(r"as you said", "as requested"),
    Word(r"(?:is|are) to hold", "should hold"),
    Word(r"asked for(?! the scores)", "requested"),
    Word(r"(?:for|of|with|to) so many", "that many"),
    Word(r"looked for in", "not found in; is searched for in"),
    Word(r"(?:is|are|was|were|not) looked at", "is read, is ignored; seen"),
    Word(r"looked at(?=[,.;])", "examined"),
    Word(r"to look at(?=[.,;]|$)", "an HTML report"),
    Word(r"(?:it|JSON|that|which) has not(?=[.;,:)])|there is not(?=[.;,)])",
         "is missing; cannot represent"),
    # "there is no", "is no longer", "is no more than" are plain English
    Word(r"(?<!there\s)(?:is|are) no"
         r"(?! (?:longer|more|less|fewer|better|worse|larger|smaller|other|one))",
         "is not a, are not"),
    Word(r"is none of", "is not one of"),
    Word(r"the two exchanged", "did you swap them?"),
    Word(r"lend their", "are named after"),
    Word(r"as if it were not there", "ignore it"),
    Word(r"parted", "separated, divided"),
    Word(r"(?:is|are) here", "is available locally; is included"),
    Word(r"who has (?:it|more)|for who has", "if you have"),
    Word(r"gives? out|given out", "distributes"),
    Word(r"at hand", "available, given"),
    Word(r"users? (?:are|is) taken as the same|take the users as", "pair by user"),
    Word(r"(?:every|no|some|any)body", "every user; no one; another process"),
    Word(r"vouch(?:es)? for|speaks? against", "support; prevents"),
    Word(r"besides(?=[.,;])", "as well"),
    Word(r"hence", "so"),
    # -- Fragments. These match at the beginning of a text only.
    Word(r"\A\s*(?:Of (?:what|each|an?|the|users|all)|If not|With which|As said)",
         "a sentence with a subject and a verb"),
    Word(r"\A\s*The same (?:of|as|for|without|through)", "what it returns or does"),
    # -- Pages
    Word(r"answers? to the pointer", "interactive figures"),
    Word(r"to programs and to people", "for scripts and for readers"),
    Word(r"by a column", "via a column, or by column"),
    Word(r"comes? out here", "is reproduced"),
    Word(r"of mine", "your own"),
    Word(r"past one machine", "beyond one machine"),
    Word(r"run them again", "reproduce the papers"),
    Word(r"estimator when", "choose an estimator"),
    Word(r"new people", "new users"),
    Word(r"few bits", "low precision"),
    Word(r"have to do with each other", "how they relate"),
    Word(r"one word per setting", "the same name for a setting in every model"),
    Word(r"shows? themselves|shows? itself as", "render as"),
    Word(r"too dear|is dear|dearer", "expensive"),
    Word(r"how a state is given", "how outcomes are classified"),
)  # fmt: skip


def _compiled(pattern: str) -> re.Pattern[str]:
    begin = r"(?<!\w)" if pattern[0] != "\\" else ""
    return re.compile(f"{begin}(?:{pattern})(?!\\w)".replace(" ", r"\s+"), re.IGNORECASE)


COMPILED = {word: _compiled(word.pattern) for word in WORDS}


class Text(NamedTuple):
    """A piece of text for readers, and the lines of its file that hold it."""

    path: Path
    text: str
    first: int  # number of the first line
    lines: list[str]


class Finding(NamedTuple):
    """A word that should be another."""

    path: Path
    line: int
    found: str
    word: Word

    def place(self) -> str:
        path = self.path.relative_to(ROOT) if self.path.is_relative_to(ROOT) else self.path
        return f"{path.as_posix()}:{self.line}"

    def __str__(self) -> str:
        return f'{self.place()}: "{self.found}" -> {self.word.say}'


# --- what is read ---------------------------------------------------------------------------------

_BLANKED = re.compile(r"[^\n]")
_DOCTEST = re.compile(r"^[ \t]*>>>.*?(?=\n[ \t]*\n|\Z)", re.MULTILINE | re.DOTALL)
_PARAMETER = re.compile(r"^[ \t]*\*{0,2}\w+(?:, \*{0,2}\w+)* : ", re.MULTILINE)
_INLINE = re.compile(r"``[^`]+``|`[^`\n]+`")
_MARKDOWN = re.compile(
    r"""^[ ]*```.*?^[ ]*```[ ]*$      # fenced code
      | <!--.*?-->                    # comments
      | \{\{.*?\}\} | \{%.*?%\}       # values filled in when the site is built
      | \$\$.*?\$\$ | \\\(.*?\\\)     # formulas
      | ``[^`]+`` | `[^`\n]+`         # code in a line
      | (?<=\]\()[^)]+(?=\))          # addresses of links
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)

_TEMPLATE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|<[^>]*>", re.DOTALL)
_SCRIPT = re.compile(
    r"""//[^\n]*|/\*.*?\*/|(["'`])((?:\\.|(?!\1).)*)\1""", re.DOTALL
)  # and comments
_DESCRIPTION = re.compile(r'^description = "([^"\n]*)"$', re.MULTILINE)
_PLACE = re.compile(r"\$\{[^}]*\}")  # a value in a string of a script


def _without(pattern: re.Pattern[str], text: str) -> str:
    """The text with each match blanked, so that all else keeps its place."""
    return pattern.sub(lambda match: _BLANKED.sub(" ", match.group()), text)


def _prose(text: str) -> str:
    for pattern in (_DOCTEST, _PARAMETER, _INLINE):
        text = _without(pattern, text)
    return text


def _docstring(node: ast.AST) -> ast.Constant | None:
    """The node that holds a docstring, which knows its lines."""
    match getattr(node, "body", []):
        case [ast.Expr(value=ast.Constant(value=str()) as found), *_]:
            return found
    return None


def _public_docstrings(node: ast.AST) -> Iterator[ast.Constant]:
    """Docstrings of a module, class or function and of the public things within it."""
    found = _docstring(node)
    if found:
        yield found
    if isinstance(node, ast.Module | ast.ClassDef):
        for inner in node.body:
            if isinstance(inner, ast.ClassDef | ast.FunctionDef) and inner.name[0] != "_":
                yield from _public_docstrings(inner)


def _joined(node: ast.AST) -> str | None:
    """The text of a string or of a sum of them, with {} for each value; None for all else."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=values):
            return "".join(_joined(part) or "{}" for part in values)
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            both = (_joined(left), _joined(right))
            return None if both == (None, None) else "".join(part or "{}" for part in both)
    return None


class _Strings(ast.NodeVisitor):
    """Strings that are neither docstrings nor regular expressions."""

    def __init__(self, docstrings: set[int]) -> None:
        self.found: list[tuple[ast.expr, str]] = []
        self._docstrings = docstrings
        self._at_least = 2  # words

    def _visit_spoken(self, node: ast.AST) -> None:
        before, self._at_least = self._at_least, 1
        self.generic_visit(node)
        self._at_least = before

    def visit_Raise(self, node: ast.Raise) -> None:
        self._visit_spoken(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        (self._visit_spoken if node.arg == "help" else self.generic_visit)(node)

    def visit_Call(self, node: ast.Call) -> None:
        called = ast.unparse(node.func)
        if not called.startswith("re."):
            spoken = called.endswith(("Error", "Warning", ".warn"))
            (self._visit_spoken if spoken else self.generic_visit)(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        self._take(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self._take(node)
        self._visit_values(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if _joined(node) is None:
            self.generic_visit(node)
        else:
            self._take(node)
            self._visit_values(node)

    def _visit_values(self, node: ast.AST) -> None:
        """Visit what is not text itself: values in braces, and summands that are no strings."""
        match node:
            case ast.JoinedStr(values=values):
                for part in values:
                    if isinstance(part, ast.FormattedValue):
                        self.visit(part.value)
            case ast.BinOp(left=left, right=right) if _joined(node) is not None:
                self._visit_values(left)
                self._visit_values(right)
            case ast.Constant():
                pass
            case _:
                self.visit(node)

    def _take(self, node: ast.expr) -> None:
        text = None if id(node) in self._docstrings else _joined(node)
        if text and len(text.split()) >= self._at_least:
            self.found.append((node, text))


def python_texts(path: Path) -> Iterator[Text]:
    """The text for readers in a Python file."""
    source = path.read_text("utf-8")
    tree, lines = ast.parse(source), source.splitlines()
    strings = _Strings({id(_docstring(node)) for node in ast.walk(tree)})
    strings.visit(tree)
    found = [(node, _without(_INLINE, text)) for node, text in strings.found]
    found += [(node, _prose(str(node.value))) for node in _public_docstrings(tree)]
    for node, text in found:
        yield Text(path, text, node.lineno, lines[node.lineno - 1 : node.end_lineno])


def page_texts(path: Path) -> Iterator[Text]:
    """The prose of a Markdown page, a template or the site's contents, as one text."""
    text = path.read_text("utf-8")
    text = _without(_TEMPLATE if path.suffix == ".html" else _MARKDOWN, text)
    yield Text(path, text, 1, text.split("\n"))


def script_texts(path: Path) -> Iterator[Text]:
    """The strings of two words or more in a script of the report."""
    text = path.read_text("utf-8")
    for match in _SCRIPT.finditer(text):
        string = match.group(2) or ""
        if len(string.split()) > 1:
            first = text.count("\n", 0, match.start()) + 1
            yield Text(path, _without(_PLACE, string), first, string.split("\n"))


def project_texts(path: Path) -> Iterator[Text]:
    """The description of the package, which its page on PyPI shows."""
    text = path.read_text("utf-8")
    for match in _DESCRIPTION.finditer(text):
        yield Text(path, match.group(1), text.count("\n", 0, match.start()) + 1, [match.group()])


_READERS = {".py": python_texts, ".js": script_texts, ".toml": project_texts}


def texts(path: Path) -> Iterator[Text]:
    """The text for readers in a file."""
    return _READERS.get(path.suffix, page_texts)(path)


def areas() -> dict[str, list[Path]]:
    """The files that are read. Studies and reproductions are written by scripts, and apart."""
    pages = {*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.py")}
    pages |= {ROOT / name for name in ("mkdocs.yml", "pyproject.toml", "CITATION.cff")}
    studies = {*ROOT.glob("docs/studies/*.md"), *ROOT.glob("docs/reproduction/*.md")}
    kinds_of_source = ("py", "html", "js")
    sources = {path for kind in kinds_of_source for path in ROOT.glob(f"src/fullrank/**/*.{kind}")}
    kinds = {"sources": sources, "pages": pages - studies, "studies": studies}
    return {name: sorted(paths) for name, paths in kinds.items()}


# --- what is found --------------------------------------------------------------------------------


def _line(text: Text, match: re.Match[str]) -> int:
    """The line of a match, by the breaks of the text or, where it is folded, by its words."""
    if "\n" in text.text:
        return text.first + text.text.count("\n", 0, match.start())
    for words in (match.group(), match.group().split()[0]):
        for number, line in enumerate(text.lines, text.first):
            if words in line:
                return number
    return text.first


def findings(paths: Iterable[Path]) -> Iterator[Finding]:
    """Every word of the list in the files, in the order of the text."""
    for path in paths:
        found = [
            Finding(path, _line(text, match), " ".join(match.group().split()), word)
            for text in texts(path)
            for word, pattern in COMPILED.items()
            for match in pattern.finditer(text.text)
        ]
        yield from sorted(found, key=lambda one: one.line)


def found_in_areas() -> dict[str, list[Finding]]:
    """All findings of the project, by area."""
    return {name: list(findings(paths)) for name, paths in areas().items()}


def counts(found: Iterable[Finding]) -> dict[str, int]:
    """How often each pattern was found, those that were."""
    return dict(sorted(Counter(one.word.pattern for one in found).items()))


# --- what is tolerated ----------------------------------------------------------------------------

Known = dict[str, dict[str, int]]  # pattern to area to count; a pattern without any is there, empty


def known() -> Known:
    """The counts that are tolerated."""
    return json.loads(KNOWN.read_text("utf-8")) if KNOWN.exists() else {}


def present(found: dict[str, list[Finding]]) -> Known:
    """The counts as they are, for every pattern of the list."""
    by_area = {area: counts(here) for area, here in found.items()}
    return {
        word.pattern: {area: n[word.pattern] for area, n in by_area.items() if word.pattern in n}
        for word in WORDS
    }


def complaints(found: dict[str, list[Finding]], allowed: Known) -> list[str]:
    """A sentence for every place of each pattern that is found more often than it may be."""
    return [
        f'Please reword {one.place()}: instead of "{one.found}", write: {one.word.say}.'
        for area, here in found.items()
        for one in here
        if counts(here)[one.word.pattern] > allowed.get(one.word.pattern, {}).get(area, 0)
    ]


def slack(found: dict[str, list[Finding]], allowed: Known) -> list[str]:
    """Patterns that are found less often than they may be."""
    now = present(found)
    return [
        f"{pattern!r} in {area}: {limit} -> {now.get(pattern, {}).get(area, 0)}"
        for pattern, limits in allowed.items()
        for area, limit in limits.items()
        if now.get(pattern, {}).get(area, 0) < limit
    ]


def lowered(found: dict[str, list[Finding]], allowed: Known) -> Known:
    """Counts lowered to the present ones; a pattern that is new to the list gets its own."""
    return {
        pattern: {area: min(n, allowed.get(pattern, now).get(area, 0)) for area, n in now.items()}
        for pattern, now in present(found).items()
    }


def write(allowed: Known) -> None:
    """Keep the counts, one pattern on a line."""
    rows = (f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in sorted(allowed.items()))
    KNOWN.write_text("{\n" + ",\n".join(rows) + "\n}\n", "utf-8")


# --- the command ----------------------------------------------------------------------------------


def main() -> int:
    """Print findings; exit with 1 where a count has risen, or a given file has any."""
    about = "Find words that this project avoids in text for its readers."
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("files", nargs="*", type=Path, help="files to read; default: the project")
    parser.add_argument("--count", action="store_true", help="print the count of each entry")
    parser.add_argument("--update", action="store_true", help="lower the allowed counts")
    options = parser.parse_args()
    if options.files:
        found = list(findings(path.resolve() for path in options.files))
        print(*found, sep="\n", end="\n" if found else "")
        return int(bool(found))
    areas_found, allowed = found_in_areas(), known()
    if options.update:
        allowed = lowered(areas_found, allowed)
        write(allowed)
    elif options.count:
        for pattern, by_area in present(areas_found).items():
            print(f"{sum(by_area.values()):5}  {pattern}  {by_area}")
    else:
        print(*(one for here in areas_found.values() for one in here), sep="\n")
    said = complaints(areas_found, allowed)
    print(*said, sep="\n", end="\n" if said else "", file=sys.stderr)
    return int(bool(said))


if __name__ == "__main__":
    sys.exit(main())

"""`ba.report`: what the page holds, that it is inert, and that all formats say the same."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import bayesaudit as ba
from bayesaudit.cli import main

HOSTILE = "<script>alert('gotcha')</script>"
VOID = {"meta", "link", "br", "img", "hr", "input"}


class Page(HTMLParser):
    """The tags, texts and attributes of a page, in order; checks that tags are closed."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.open = [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    def named(self, *names):
        return [attrs for tag, attrs in self.tags if tag in names]


@pytest.fixture(scope="module")
def per_model():
    rng = np.random.default_rng(3)
    fn, fp = rng.binomial(20, rng.beta(3, 6, 12)), rng.binomial(20, rng.beta(2, 8, 12))
    return ba.AttackCounts(fn=fn, tp=20 - fn, fp=fp, tn=20 - fp, axis="model")


@pytest.fixture(scope="module")
def audits(per_model):
    """Audits of every kind: name -> audit."""
    counts = ba.AttackCounts(fn=35, tp=65, fp=25, tn=75)
    rng = np.random.default_rng(5)
    scores = ba.AttackScores(
        score=rng.normal(size=120) + np.arange(120) % 2, member=np.arange(120) % 2
    )
    return {
        "counts": ba.audit(counts, claim=0.5),
        "deltas": ba.audit(counts, delta=[0.0, 0.1]),
        "perfect": ba.audit(ba.AttackCounts(fn=0, tp=100, fp=0, tn=100), claim=9.0),
        "per model": ba.audit(per_model, claim=0.5),
        "one model": ba.audit(ba.AttackCounts(fn=[3], tp=[7], fp=[2], tn=[8], axis="model")),
        "tallies": ba.audit(ba.AttackCounts(fn=[3, 0], tp=[7, 9], fp=[2, 0], tn=[8, 9])),
        "band": ba.audit(scores, threshold="band", claim=0.1),
        "optimistic": ba.audit(scores, threshold="optimistic"),
        "split": ba.audit(scores, threshold="split"),
        "one run": ba.audit_one_run(n_canaries=100, n_guesses=50, n_correct=40, claim=0.5),
        "draws": ba.audit(counts).sample(random_seed=1, draws=500),
    }


NAMES = [
    "counts",
    "deltas",
    "perfect",
    "per model",
    "one model",
    "tallies",
    "band",
    "optimistic",
    "split",
    "one run",
    "draws",
]


@pytest.fixture(scope="module")
def pages(audits, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    paths = {name: ba.report(audits[name], folder / f"{name}.html") for name in NAMES}
    return {name: path.read_text(encoding="utf-8") for name, path in paths.items()}


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_whole_inert_and_readable_without_eyes(pages, audits, name):
    page = Page(pages[name])
    assert not page.named("script", "iframe", "object", "embed", "form")
    for attrs in (attrs for _, attrs in page.tags):
        assert not any(key.startswith("on") for key in attrs)
        for key in ("src", "href", "xlink:href"):
            assert attrs.get(key, "#").startswith(("#", "data:"))
    assert not re.search(r"url\((?!#|\"#|&quot;#)", pages[name]) and "@import" not in pages[name]
    headings = [tag for tag, _ in page.tags if re.fullmatch(r"h[1-6]", tag)]
    assert headings[0] == "h1" and headings.count("h1") == 1 and set(headings) == {"h1", "h2"}
    assert page.named("html")[0]["lang"] == "en"
    assert all(attrs.get("scope") in ("col", "row") for attrs in page.named("th"))
    pictures = [attrs for attrs in page.named("div") if attrs.get("role") == "img"]
    assert len(page.named("svg")) == len(pictures) == 2 * len(page.named("figure")) > 0
    assert all(attrs["aria-label"] for attrs in pictures)
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert len(pages[name]) < 1_000_000
    text = " ".join(" ".join(page.texts).split())
    if audits[name].n_tallies is None:
        assert audits[name].conclusion in text
    for warning in audits[name].warnings:
        assert warning in text


def test_the_same_audit_gives_the_same_bytes(pages, audits, tmp_path):
    again = ba.report(audits["per model"], tmp_path / "again.html").read_text(encoding="utf-8")
    assert again == pages["per model"]


def test_lines_side_by_side_with_what_each_promises(pages, audits):
    text = " ".join(Page(pages["per model"]).texts)
    for method in ("exact posterior", "beta-binomial", "betting", "clopper-pearson"):
        assert method in text
    assert "guaranteed under any dependence within a model" in text
    assert "guaranteed only if trials of a model are independent, too" in text
    assert "intra-model correlation" in text
    for name, statement in (("optimistic", "not a bound"), ("counts", "credible")):
        assert statement in " ".join(Page(pages[name]).texts)


def test_markdown_says_what_the_page_says(audits, tmp_path):
    for name, audit in audits.items():
        text = ba.report(audit, tmp_path / f"{name}.md", title=f"Audit {name}").read_text()
        assert text.startswith(f"# Audit {name}\n")
        if audit.n_tallies is None:
            assert audit.conclusion in text.replace("&lt;", "<").replace("&gt;", ">")
        rows = [line for line in text.splitlines() if line.startswith("|")]
        assert all(row.rstrip().endswith("|") for row in rows)
        for line in audit.lines:
            assert audit.n_tallies is not None or f"| {line.method} |" in text
    found = json.loads(ba.report(audits["counts"], tmp_path / "a.json").read_text())
    assert found == json.loads(json.dumps(audits["counts"].to_dict()))


def test_names_are_text_and_never_markup(tmp_path):
    path = tmp_path / "<img src=x onerror=alert(1)>.csv"
    path.write_text("fn,tp,fp,tn\n3,7,2,8\n", encoding="utf-8")
    audit = ba.audit(path)
    page = ba.report(audit, tmp_path / "hostile.html", title=HOSTILE, command=HOSTILE).read_text()
    parsed = Page(page)
    assert not parsed.named("script", "img") and HOSTILE in parsed.texts
    text = ba.report(audit, tmp_path / "hostile.md", title=HOSTILE).read_text()
    assert "<script" not in text and "<img" not in text


def test_bad_draws_come_first(tmp_path):
    counts = ba.AttackCounts(fn=35, tp=65, fp=25, tn=75)
    rng = np.random.default_rng(0)
    dt = ba.audit(counts).sample(random_seed=2, draws=200).draws.dt
    stuck = dt.copy(deep=True)
    values = np.repeat(rng.beta(35, 65, (4, 1)), 200, axis=1)
    stuck["posterior"]["fnr"].values[:] = values + 1e-6 * rng.normal(size=(4, 200))
    audit = ba.audit_draws(stuck)
    assert not audit.draws.passed
    page = ba.report(audit, tmp_path / "stuck.html").read_text()
    assert page.index("did not pass their checks") < page.index('class="lead"')
    text = ba.report(audit, tmp_path / "stuck.md").read_text()
    assert text.index("did not pass their checks") < text.index("## What each method says")


def test_the_command_line_writes_a_page(tmp_path, capsys, per_model):
    source = tmp_path / "models.csv"
    rows = zip(per_model.fn, per_model.tp, per_model.fp, per_model.tn, strict=True)
    lines = [f"m{j},{','.join(map(str, row))}" for j, row in enumerate(rows)]
    source.write_text("model,fn,tp,fp,tn\n" + "\n".join(lines) + "\n", encoding="utf-8")
    out = tmp_path / "report.html"
    arguments = ["report", str(source), "--claim", "0.5", "--out", str(out)]
    assert main(arguments) == 0
    shown = capsys.readouterr()
    assert shown.out.strip() == str(out)
    page = Page(out.read_text(encoding="utf-8"))
    text = " ".join(page.texts)
    assert f"bayesaudit report {source} --claim 0.5" in text and "SHA-256 of models.csv" in text
    assert main(arguments) == 2 and "--force" in capsys.readouterr().err
    assert main([*arguments[:-1], str(source), "--force"]) == 2
    assert "must not be" in capsys.readouterr().err


def test_bad_arguments_are_refused(tmp_path, audits):
    with pytest.raises(TypeError, match="audit must be an Audit"):
        ba.report({"lines": []}, tmp_path / "x.html")
    with pytest.raises(ValueError, match="format must be one of"):
        ba.report(audits["counts"], tmp_path / "x.html", format="pdf")
    with pytest.raises((ValueError, OSError), match="directory"):
        ba.report(audits["counts"], tmp_path / "no" / "x.html")

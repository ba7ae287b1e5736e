"""The page in headless Chromium: no errors, no requests, every figure, no sideways scrolling."""

import html
import json
import os
import re
import shutil
import subprocess

import numpy as np
import pytest

import bayesaudit as ba

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
    "--virtual-time-budget=5000",
    # What the browser itself would ask the network for.
    "--disable-features=NetworkTimeServiceQuerying,OptimizationHints,MediaRouter",
]
#: Hosts that the browser asks on its own account at every start.
OWN = re.compile(r"https?://([a-z0-9.-]+\.)?(google|googleapis|gstatic|gvt1)\.com/")
#: A page that holds the report in frames of several widths and measures it there. A document given
#: by srcdoc has its parent's origin, so that it can be looked into.
MEASURE = """<!DOCTYPE html><meta charset="utf-8"><body><pre id="found"></pre>
{frames}
<script>
window.onload = () => {{
  const found = [...document.querySelectorAll("iframe")].map(frame => {{
    const page = frame.contentDocument, root = page.documentElement;
    const size = svg => svg.getBoundingClientRect();
    const shown = [...page.querySelectorAll("svg")].filter(svg => size(svg).width);
    return {{
      width: frame.clientWidth,
      scroll: root.scrollWidth,
      figures: page.querySelectorAll("figure").length,
      shown: shown.length,
      flat: shown.filter(svg => size(svg).height < 50).length,
      scripts: page.scripts.length,
      title: page.title,
    }};
  }});
  document.getElementById("found").textContent = JSON.stringify(found);
}};
</script></body>
"""


def browse(page, folder, *flags):
    """Return what Chromium says of a page: its DOM, its log, and the network requests."""
    net = folder / "net.json"
    user = folder / "user"
    done = subprocess.run(
        [
            CHROMIUM,
            *FLAGS,
            f"--user-data-dir={user}",
            f"--log-net-log={net}",
            *flags,
            "--dump-dom",
            f"file://{page}",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    urls = re.findall(r'"url":"([a-z]+://[^"]*)"', net.read_text(encoding="utf-8"))
    asked = [url for url in urls if not url.startswith(("file://", "data:", "about:"))]
    return done.stdout, done.stderr, [url for url in asked if not OWN.match(url)]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    if CHROMIUM is None:
        if os.environ.get("CI"):
            pytest.fail("chromium must be there in CI: .ci/run installs it.")
        pytest.skip("no chromium on this machine")
    folder = tmp_path_factory.mktemp("browser")
    rng = np.random.default_rng(3)
    fn, fp = rng.binomial(20, rng.beta(3, 6, 12)), rng.binomial(20, rng.beta(2, 8, 12))
    counts = ba.AttackCounts(fn=fn, tp=20 - fn, fp=fp, tn=20 - fp, axis="model")
    title = "<script>document.title='gotcha'</script>"
    path = ba.report(ba.audit(counts, claim=0.5), folder / "report.html", title=title)
    return folder, path, title


def test_in_a_browser(report):
    folder, path, title = report
    page = html.escape(path.read_text(encoding="utf-8"), quote=True)
    frames = "\n".join(
        f'<iframe width="{width}" height="900" style="border:0" srcdoc="{page}"></iframe>'
        for width in (400, 1000)
    )
    outer = folder / "measure.html"
    outer.write_text(MEASURE.format(frames=frames), encoding="utf-8")
    dom, log, urls = browse(outer, folder)
    found = json.loads(html.unescape(re.search(r'<pre id="found">(.*?)</pre>', dom).group(1)))
    assert [one["width"] for one in found] == [400, 1000]
    for one in found:
        assert one["scroll"] <= one["width"]
        assert one["shown"] == one["figures"] >= 4 and one["flat"] == 0
        assert one["scripts"] == 0 and one["title"] == title
    assert "CONSOLE" not in log
    assert not urls and not re.search(r"google|gstatic|gvt1", path.read_text(encoding="utf-8"))


def test_a_fault_would_be_seen(report):
    """The measures above see a page that scrolls, that fetches, and that errs."""
    folder, _, _ = report
    wide = html.escape('<p style="width:2000px">x</p><img src="http://127.0.0.1:9/x.png">')
    frame = f'<iframe width="400" height="90" style="border:0" srcdoc="{wide}"></iframe>'
    outer = folder / "fault.html"
    text = MEASURE.format(frames=frame) + "<script>console.error('seen')</script>"
    outer.write_text(text, encoding="utf-8")
    dom, log, urls = browse(outer, folder)
    (one,) = json.loads(html.unescape(re.search(r'<pre id="found">(.*?)</pre>', dom).group(1)))
    assert one["scroll"] > one["width"]
    assert "CONSOLE" in log and any(url.startswith("http://127.0.0.1:9") for url in urls)

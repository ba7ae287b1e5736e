"""The exact unconditional lower bound: reference values, brute force, exact coverage."""

import itertools
import json

import numpy as np
import pytest
from reference import DATA
from scipy import special, stats

import bayesaudit as ba
from bayesaudit.calibration import coverage, exact_unconditional
from bayesaudit.unconditional import _region, _supremum
from bayesaudit.unconditional._binomial import Window

ROWS = json.loads((DATA / "unconditional.json").read_text(encoding="utf-8"))["values"]
RATES = (0.002, 0.01, 0.03, 0.06, 0.1, *np.arange(0.15, 0.61, 0.05), 0.75)
FORMS = {
    "half": ("member", "fpr"),
    "half2": ("member", "fnr"),
    "member": ("member", "max"),
    "folded": ("both", "max"),
}


def epsilon(delta, form):
    return ba.Epsilon(delta, *FORMS[form])


def tally(fn, fp, n1, n0):
    return ba.AttackCounts(fn=fn, tp=n1 - np.asarray(fn), fp=fp, tn=n0 - np.asarray(fp))


def bound(fn, fp, n1, n0, delta, form, prob=0.9):
    return exact_unconditional(tally(fn, fp, n1, n0), epsilon(delta, form), prob).lower


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["form"])
def test_reference_rows(row):
    found = bound(
        row["fn"], row["fp"], row["n1"], row["n0"], row["delta"], row["form"], 1 - 2 * row["alpha"]
    )
    assert found == pytest.approx(row["certified"], abs=1e-6)
    assert found <= row["bound"] + 1e-9
    box = ba.confidence_interval(
        tally(row["fn"], row["fp"], row["n1"], row["n0"]),
        ba.Epsilon(row["delta"], "both" if row["form"] == "folded" else "member"),
        1 - 2 * row["alpha"],
    )
    if row["form"] in ("member", "folded"):
        assert found >= box.lower - 1e-9 or row["form"] == "folded"


# -- an independent brute force ------------------------------------------------------------------


class Brute:
    """The definition word by word: full tables, scipy.stats, another quadrature, a dense grid."""

    def __init__(self, n1, n0, delta, form, alpha):
        self.n1, self.n0, self.d, self.form, self.alpha = n1, n0, 1 - delta, form, alpha
        t, w = np.polynomial.legendre.leggauss(400)
        u, w = (1 + t) / 2, w / 2
        self.nodes, self.weights = np.sin(np.pi * u / 2) ** 2, w * np.pi / 2 * np.sin(np.pi * u)
        self.terms = {"half": [True], "half2": [False]}.get(form, [True, False])

    def half(self, ratio, over_x, i, j):
        """P(over + ratio·under >= D) for all outcomes of i x j; `over_x`: over is FNR."""
        pairs = [(np.atleast_1d(i)[:, None], self.n1), (np.atleast_1d(j)[:, None], self.n0)]
        (k, n), (under, m) = pairs if over_x else pairs[::-1]
        edge = np.clip(self.d - ratio * self.nodes, 0, 1)
        outer = self.nodes ** (under - 0.5) * (1 - self.nodes) ** (m - under - 0.5) * self.weights
        inner = 1 - special.betainc(k + 0.5, n - k + 0.5, edge)
        table = inner @ outer.T / outer.sum(axis=1)
        return table if over_x else table.T

    def smallest(self, eps, i=None, j=None):
        i = np.arange(self.n1 + 1) if i is None else i
        j = np.arange(self.n0 + 1) if j is None else j
        return np.min([self.half(np.exp(eps), term, i, j) for term in self.terms], axis=0)

    def order(self, fn, fp):
        low, high = 0.0, 12.0
        if self.smallest(0.0, fn, fp) >= self.alpha:
            return 0.0
        for _ in range(50):
            middle = (low + high) / 2
            below = self.smallest(middle, fn, fp) < self.alpha
            low, high = (middle, high) if below else (low, middle)
        return (low + high) / 2

    def bound(self, fn, fp):
        q = self.order(fn, fp)
        if self.form == "folded":
            q2 = self.order(self.n1 - fn, self.n0 - fp)
            if q2 > q:
                fn, fp, q = self.n1 - fn, self.n0 - fp, q2
        if q == 0:
            return 0.0
        region = self.smallest(q) <= self.alpha * (1 + 1e-7)
        gamma = self.alpha / 1000
        box = []
        for k, n in ((fn, self.n1), (fp, self.n0)):
            ends = stats.binomtest(k, n).proportion_ci(1 - gamma / 2, method="exact")
            box.append((ends.low, ends.high))
        boxes = [box]
        if self.form == "folded":
            boxes.append([(1 - high, 1 - low) for low, high in box])

        def excess(eps):
            return gamma + sum(self.largest(region, eps, b) for b in boxes) - self.alpha

        if excess(0.0) > 0:
            return 0.0
        low, high = 0.0, 12.0
        for _ in range(36):
            middle = (low + high) / 2
            low, high = (middle, high) if excess(middle) <= 0 else (low, middle)
        return low

    def largest(self, region, eps, box):
        """Supremum over points of the boundaries and box edges that lie in the hypothesis."""
        ratio = np.exp(eps)
        (x0, x1), (y0, y1) = box
        t = np.linspace(0, 1, 1201)
        x, y = x0 + (x1 - x0) * t, y0 + (y1 - y0) * t
        kink = self.d / (1 + ratio)
        points = [
            (self.d - ratio * y, y),
            (x, self.d - ratio * x),
            (x, (self.d - x) / ratio),
            ((self.d - y) / ratio, y),
            (x, np.full_like(x, y0)),
            (np.full_like(y, x0), y),
            (x, np.full_like(x, y1)),
            (np.full_like(y, x1), y),
            (np.array([kink]), np.array([kink])),
        ]
        px, py = (np.concatenate(part) for part in zip(*points, strict=True))
        slack = 1e-12
        inside = (px >= x0 - slack) & (px <= x1 + slack) & (py >= y0 - slack) & (py <= y1 + slack)
        if self.form != "half2":
            inside &= px + ratio * py >= self.d - slack
        if self.form != "half":
            inside &= py + ratio * px >= self.d - slack
        px, py = np.clip(px[inside], 0, 1), np.clip(py[inside], 0, 1)
        if px.size == 0:
            return 0.0
        rows, columns = (
            special.comb(n, k) * p**k * (1 - p) ** (n - k)
            for n, p in ((self.n1, px), (self.n0, py))
            for k in [np.arange(n + 1)[:, None]]
        )
        return float(np.sum((region.T @ rows) * columns, axis=0).max())


BRUTE = [
    (fn, fp, n1, n0, delta, form, alpha)
    for (fn, fp, n1, n0), delta, alpha, form in zip(
        [
            (1, 1, 12, 9),
            (2, 0, 15, 11),
            (0, 0, 8, 8),
            (3, 2, 20, 14),
            (4, 1, 11, 16),
            (12, 14, 15, 16),
        ],
        [0.0, 1e-5, 0.05, 0.0, 1e-5, 0.05],
        [0.05, 0.1, 0.05, 0.1, 0.05, 0.1],
        [None] * 6,
        strict=True,
    )
    for form in ("half", "half2", "member", "folded")
]


@pytest.mark.parametrize("case", BRUTE, ids=str)
def test_brute_force_of_small_tallies(case):
    fn, fp, n1, n0, delta, form, alpha = case
    brute = Brute(n1, n0, delta, form, alpha).bound(fn, fp)
    found = bound(fn, fp, n1, n0, delta, form, 1 - 2 * alpha)
    # The grid of the brute force can only miss the supremum: its bound is not below the true one.
    assert -2e-6 < brute - found < 2e-5


def test_brute_force_cases_are_not_all_zero():
    positive = sum(bound(*case[:6], 1 - 2 * case[6]) > 0.05 for case in BRUTE)
    assert positive >= 16


# -- guarantee -----------------------------------------------------------------------------------


def pairs():
    x, y = np.meshgrid(RATES, RATES)
    return x.ravel(), y.ravel()


def check_coverage(n1, n0, delta, form, alpha):
    x, y = pairs()
    assert x.size >= 200
    found = coverage(
        epsilon(delta, form), x, y, n1, n0, prob=1 - 2 * alpha, method="exact-unconditional"
    )
    assert found.lower.min() >= 1 - alpha
    return found


def test_never_covers_less_than_stated_in_small_audits():
    for form, alpha in (("half", 0.05), ("member", 0.1), ("folded", 0.05)):
        found = check_coverage(9, 7, 1e-5, form, alpha)
        # Not by being trivial: near the boundary of the level somewhere.
        assert found.lower.min() < 1 - alpha / 3


def test_member_form_never_covers_less_than_stated_at_20():
    found = check_coverage(20, 20, 1e-5, "member", 0.05)
    # Over this grid of 225 pairs an earlier, independent program found .9502.
    assert found.lower.min() == pytest.approx(0.9502, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.05, 0.1])
@pytest.mark.parametrize("delta", [0.0, 1e-5, 0.05])
@pytest.mark.parametrize("form", ["half", "member", "folded"])
@pytest.mark.parametrize("n", [(20, 20), (50, 30), (100, 100)], ids=str)
def test_never_covers_less_than_stated(n, form, delta, alpha):
    check_coverage(*n, delta, form, alpha)


def test_falls_in_both_counts():
    fn, fp = np.meshgrid(np.arange(13), np.arange(10), indexing="ij")
    for form in ("half", "member"):
        table = bound(fn, fp, 12, 9, 1e-5, form)
        assert np.all(np.diff(table, axis=0) <= 1e-9) and np.all(np.diff(table, axis=1) <= 1e-9)


SIZES = [(20, 20), (50, 30), (100, 100), (100, 300), (500, 100), (500, 500), (1000, 1000)]


def gains(tallies, rng):
    """Exact unconditional less Clopper–Pearson, at random level, delta and form."""
    found = []
    for fn, fp, n1, n0 in tallies:
        alpha, delta = rng.choice([0.01, 0.05, 0.1]), rng.choice([0.0, 1e-5, 0.05])
        measure = epsilon(delta, rng.choice(["member", "folded"]))
        counts = tally(int(fn), int(fp), int(n1), int(n0))
        box = ba.confidence_interval(counts, measure, 1 - 2 * alpha).lower
        found.append(exact_unconditional(counts, measure, 1 - 2 * alpha).lower - box)
    return np.array(found)


def draw(rng, sizes):
    """Tallies of attacks that are better than chance."""
    n1, n0 = np.transpose(sizes)
    fnr, fpr = rng.beta(1, 3, (2, n1.size))
    return zip(rng.binomial(n1, fnr), rng.binomial(n0, fpr), n1, n0, strict=True)


def test_is_not_below_clopper_pearson():
    rng = np.random.default_rng(1)
    found = gains(draw(rng, rng.choice(SIZES[:5], 40)), rng)
    assert found.min() >= -1e-7 and found.mean() > 0.05


@pytest.mark.slow
def test_is_not_below_clopper_pearson_in_300_tallies():
    rng = np.random.default_rng(2)
    found = gains(draw(rng, rng.choice([*SIZES, (2000, 2000)], 300)), rng)
    assert found.min() >= -1e-7 and found.mean() > 0.05


def test_is_below_clopper_pearson_at_a_known_exception():
    """That it never is holds by experience only: with few errors and a 4 : 1 design it can be."""
    counts = tally(6, 8, 238, 862)
    exact = exact_unconditional(counts, epsilon(1e-5, "member"), 0.8).lower
    box = ba.confidence_interval(counts, epsilon(1e-5, "member"), 0.8).lower
    assert exact == pytest.approx(4.0109148, abs=1e-6)
    assert box == pytest.approx(4.0429534, abs=1e-6)


@pytest.mark.slow
def test_is_hardly_ever_below_clopper_pearson_at_any_sizes():
    rng = np.random.default_rng(2)
    sizes = np.exp(rng.uniform(np.log(10), np.log(2000), (300, 2))).astype(int)
    found = gains(draw(rng, sizes), rng)
    # One of them is: 16 of 665 and 3 of 85 errors, by 0.118.
    assert np.mean(found < -1e-7) <= 0.01
    assert found.mean() > 0.1


# -- limits and invariances ----------------------------------------------------------------------


def test_swapping_the_rates_changes_nothing():
    assert bound(3, 7, 40, 60, 1e-5, "member") == pytest.approx(
        bound(7, 3, 60, 40, 1e-5, "member"), abs=1e-8
    )
    assert bound(3, 7, 40, 60, 1e-5, "half") == pytest.approx(
        bound(7, 3, 60, 40, 1e-5, "half2"), abs=1e-8
    )


def test_folded_bound_ignores_inverted_guesses():
    assert bound(37, 53, 40, 60, 1e-5, "folded") == pytest.approx(
        bound(3, 7, 40, 60, 1e-5, "folded"), abs=1e-8
    )
    assert bound(37, 53, 40, 60, 1e-5, "member") == 0


def test_forms_are_ordered_and_rise_with_the_error():
    tallies = [(5, 2, 60, 50), (0, 0, 30, 30), (20, 9, 70, 80)]
    for fn, fp, n1, n0 in tallies:
        member, folded = (bound(fn, fp, n1, n0, 1e-5, form) for form in ("member", "folded"))
        assert folded <= member + 1e-8
        assert bound(fn, fp, n1, n0, 1e-5, "member", 0.8) > member
        assert bound(fn, fp, n1, n0, 0.01, "member") < member


@pytest.mark.parametrize(
    "case", [(0, 0, 1, 1), (1, 1, 1, 1), (0, 1, 1, 1), (0, 0, 0, 5), (5, 5, 10, 10)], ids=str
)
def test_tiny_and_empty_tallies(case):
    for form in FORMS:
        value = bound(*case, 1e-5, form)
        assert value >= 0 and np.isfinite(value)


def test_no_leak_can_be_shown_at_delta_one():
    assert bound(0, 0, 50, 50, 1.0, "member") == 0


def test_arrays_keep_their_shape_and_agree_with_scalars():
    fn, fp = np.array([[3, 30], [0, 5]]), np.array([[2, 8], [1, 5]])
    table = bound(fn, fp, 50, 40, 1e-5, "member")
    assert table.shape == (2, 2)
    assert table[0, 1] == bound(30, 8, 50, 40, 1e-5, "member")
    one = ba.confidence_interval(
        tally(fn, fp, 50, 40), epsilon(1e-5, "member"), 0.9, method="exact-unconditional"
    )
    np.testing.assert_array_equal(one.lower, table)
    assert (one.kind, one.statement, one.guarantee) == ("lower", "confidence", "guaranteed")


def test_refuses_other_measures_and_percentages():
    counts = tally(1, 1, 5, 5)
    with pytest.raises(TypeError, match="measure must be Epsilon"):
        exact_unconditional(counts, ba.GaussianMu())
    with pytest.raises(ValueError, match="did you mean"):
        exact_unconditional(counts, ba.Epsilon(0), 90)


# -- the parts -----------------------------------------------------------------------------------


def test_window_holds_the_binomial():
    for n, low, high in ((1, 0.0, 1.0), (30, 0.1, 0.4), (2000, 0.3, 0.35), (50, 0.0, 0.02)):
        window = Window(n, low, high)
        for p in (low, (low + high) / 2, high):
            for fewer in (False, True):
                exact = stats.binom.pmf(window.k, n - fewer, p)
                np.testing.assert_allclose(
                    window.pmf(np.array([p]), fewer=fewer)[0], exact, rtol=1e-9, atol=1e-13
                )
        below, above = window.bounds(np.array([low]), np.array([high]))
        for p in np.linspace(low, high, 41):
            pmf = stats.binom.pmf(window.k, n, p)
            assert np.all(pmf <= above[0] * (1 + 1e-12) + 1e-14)
            assert np.all(pmf >= below[0] * (1 - 1e-8) - 1e-14)


def test_traced_region_is_the_set_it_says():
    rows, columns = Window(40, 0.02, 0.5), Window(25, 0.05, 0.6)
    for terms, order in itertools.product((("fpr",), ("fnr",), ("fpr", "fnr")), (0.2, 1.0, 2.0)):
        region = _region.trace(rows, columns, terms, 1e-5, order, 0.05)
        i, j = np.meshgrid(rows.k, columns.k, indexing="ij")
        smallest = np.min(
            [
                ba.posterior(tally(i, j, 40, 25), ba.Epsilon(1e-5, "member", term)).cdf(order)
                for term in terms
            ],
            axis=0,
        )
        inside = np.arange(columns.size) <= region.last_column[:, None]
        np.testing.assert_array_equal(inside, smallest <= 0.05)
        np.testing.assert_array_equal(
            np.arange(rows.size)[:, None] <= region.last_row[None, :], inside
        )


def test_certificate_refuses_what_a_finer_grid_finds():
    rows, columns = Window(40, 0.02, 0.5), Window(25, 0.05, 0.6)
    region = _region.trace(rows, columns, ("fpr", "fnr"), 1e-5, 1.0, 0.05)
    box = ((0.02, 0.5), (0.05, 0.6))
    for edge in _supremum.edges(region, ("fpr", "fnr"), 1e-5, 0.9, box):
        top = edge.probability(np.linspace(edge.low, edge.high, 20_001)).max()
        peak = _supremum.highest(edge)
        assert peak.value == pytest.approx(top, rel=1e-6)
        # A wrong guess of where the peak is costs time, never truth.
        for place in (peak.place, 0.0, 1.0):
            assert _supremum.stays_below(edge, top + 1e-7, place)
            assert not _supremum.stays_below(edge, top - 1e-7, place)


def test_slope_enclosure_holds_the_slope():
    rows, columns = Window(30, 0.02, 0.6), Window(30, 0.02, 0.6)
    region = _region.trace(rows, columns, ("fpr", "fnr"), 0.0, 1.0, 0.05)
    for edge in _supremum.edges(region, ("fpr", "fnr"), 0.0, 1.0, ((0.02, 0.6), (0.02, 0.6))):
        nodes = np.linspace(edge.low, edge.high, 12)
        below, above = _supremum._slope(edge, nodes[:-1], nodes[1:])
        fine = np.linspace(nodes[:-1], nodes[1:], 50)
        step = 1e-6 * (edge.high - edge.low)
        inner = np.clip(fine, edge.low + step, edge.high - step)
        rise = edge.probability((inner + step).ravel()) - edge.probability((inner - step).ravel())
        slope = (rise / (2 * step)).reshape(inner.shape)
        assert np.all(slope <= above + 1e-6) and np.all(slope >= below - 1e-6)
        assert np.all(above >= below)


def test_probability_of_a_region_is_a_double_sum():
    rows, columns = Window(12, 0.0, 1.0), Window(9, 0.0, 1.0)
    region = _region.trace(rows, columns, ("fnr",), 0.05, 0.4, 0.2)
    inside = np.arange(10) <= region.last_column[:, None]
    x, y = 0.3, 0.2
    direct = stats.binom.pmf(np.arange(13), 12, x) @ inside @ stats.binom.pmf(np.arange(10), 9, y)
    found = _supremum._probability(region, np.array([x]), np.array([y]))[0]
    assert found == pytest.approx(direct, rel=1e-12)
    assert 0 < direct < 1 and special.ndtri(direct) < 2


@pytest.mark.parametrize("form", FORMS)
def test_a_table_of_orders_gives_what_single_tallies_give(form):
    fn, fp = np.meshgrid(np.arange(16), np.arange(12), indexing="ij")
    table = bound(fn, fp, 15, 11, 1e-5, form)
    for i, j in ((0, 0), (2, 1), (5, 2), (1, 6), (14, 10), (15, 8)):
        assert table[i, j] == pytest.approx(bound(i, j, 15, 11, 1e-5, form), abs=2e-8)
    assert np.count_nonzero(table) > 10

import builtins
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from bayesaudit import fano
from bayesaudit.fano import accounting

dp = pytest.importorskip("dp_accounting")

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def integer_orders():
    accountant = dp.rdp.RdpAccountant(list(range(2, 65)))
    step = dp.PoissonSampledDpEvent(0.01, dp.GaussianDpEvent(1.0))
    return fano.rdp_curve(accountant.compose(dp.SelfComposedDpEvent(step, 1000)))


@pytest.fixture(scope="module")
def coarse_loss():
    from dp_accounting.pld import privacy_loss_distribution as pld

    one = pld.from_gaussian_mechanism(1.0, sampling_prob=0.01, value_discretization_interval=1e-3)
    return one.self_compose(1000)


@pytest.mark.parametrize(
    ("m", "by_information", "by_orders", "by_loss"),
    [(2, 0.4036, 0.5030, 0.3173), (10, 0.1579, 0.1451, 0.1047), (100, 0.0635, 0.0253, 0.0193)],
)
def test_dp_sgd(m, by_information, by_orders, by_loss, integer_orders, coarse_loss):
    assert coarse_loss.get_epsilon_for_delta(1e-5) == pytest.approx(1.829, abs=2e-3)
    kl = 1000 * fano.subsampled_gaussian_kl(1.0, 0.01)
    assert kl == pytest.approx(0.083812207650831, rel=1e-12)
    result = fano.best_bound(
        categories=m,
        kl=kl,
        rdp=integer_orders,
        profile=fano.privacy_profile(coarse_loss, 1 / m),
    )
    assert result["erokhin"].advantage == pytest.approx(by_information, abs=6e-5)
    assert result["rero-rdp"].advantage == pytest.approx(by_orders, abs=6e-5)
    assert result["f-dp"].advantage == pytest.approx(by_loss, abs=6e-5)
    assert result["renyi-fano"].advantage <= result["rero-rdp"].advantage
    assert result.best.method == "f-dp"
    # The defaults use finer losses and more orders: the same bounds or smaller ones.
    default = fano.dp_sgd_bounds(1.0, 0.01, 1000, categories=m)
    for method in ("erokhin", "rero-rdp", "f-dp"):
        assert default[method].advantage <= result[method].advantage * (1 + 1e-9)
        assert default[method].advantage == pytest.approx(result[method].advantage, rel=7e-3)


def test_full_batch_is_gaussian_dp():
    result = fano.dp_sgd_bounds(2.0, 1.0, 4, categories=10)
    assert result["gdp"].success == pytest.approx(fano.rero_gdp(1.0, 0.1))
    assert result["f-dp"].advantage == pytest.approx(result["gdp"].advantage, rel=1e-3)
    assert result["f-dp"].advantage >= result["gdp"].advantage
    exact = fano.gaussian_success(1.0, categories=10)  # pairwise distance of one clipping norm
    assert all(bound.success >= exact for bound in result.bounds)


def test_accountants_disagree_about_replace_one_and_we_do_not():
    # sigma = z C: replacing a record moves the sum by 2 C, so the output is 2/z-GDP
    z, relation = 3.0, dp.NeighboringRelation.REPLACE_ONE
    renyi = dp.rdp.RdpAccountant([2.0], neighboring_relation=relation)
    renyi.compose(dp.GaussianDpEvent(z))
    loss = dp.pld.PLDAccountant(neighboring_relation=relation)
    loss.compose(dp.GaussianDpEvent(z))
    assert renyi.rdp[0] == pytest.approx((1 / z) ** 2)  # noise relative to 2 C
    distance = 2 * fano.rero_gdp(1 / z, 0.5) - 1
    assert loss.get_delta(0.0) == pytest.approx(distance, rel=1e-3)  # noise relative to C
    event = dp.SelfComposedDpEvent(dp.ComposedDpEvent([dp.GaussianDpEvent(z)]), 2)
    found = fano.event_bounds(event, categories=2, neighboring_relation="replace-one")
    mu = np.sqrt(2) * 2 / z
    assert found["f-dp"].success == pytest.approx(fano.rero_gdp(mu, 0.5), rel=1e-3)
    assert found["renyi-fano"].inputs["epsilon"] == pytest.approx(
        found["renyi-fano"].inputs["order"] * mu**2 / 2
    )
    exact = fano.gaussian_success(mu, categories=2)  # records at +C and -C
    assert all(bound.success >= exact for bound in found.bounds)
    assert found["f-dp-fixed-point"].success == pytest.approx(exact, rel=1e-3)
    with pytest.raises(ValueError, match="made of Gaussian events, got LaplaceDpEvent"):
        fano.event_bounds(dp.LaplaceDpEvent(1.0), categories=2, neighboring_relation="replace-one")


def test_curve_drops_what_is_not_a_bound():
    class Accountant:
        orders = (0.5, 1.0, 2.0, 3.0)
        rdp = (0.1, np.nan, 0.3, np.inf)

    orders, epsilons = fano.rdp_curve(Accountant())
    assert (orders.tolist(), epsilons.tolist()) == ([2.0], [0.3])
    accountant = dp.rdp.RdpAccountant([1.0, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # it divides by 0 at order 1
        accountant.compose(dp.PoissonSampledDpEvent(0.1, dp.GaussianDpEvent(2.0)))
    orders, epsilons = fano.rdp_curve(accountant)
    assert orders.tolist() == [2.0]
    assert fano.subsampled_gaussian_kl(2.0, 0.1) < epsilons[0]


def test_profile_reads_accountants_too(coarse_loss):
    accountant = dp.pld.PLDAccountant(value_discretization_interval=1e-3)
    step = dp.PoissonSampledDpEvent(0.01, dp.GaussianDpEvent(1.0))
    accountant.compose(dp.SelfComposedDpEvent(step, 1000))
    one = fano.rero_approximate_dp(*fano.privacy_profile(accountant, 0.1), 0.1)
    two = fano.rero_approximate_dp(*fano.privacy_profile(coarse_loss, 0.1), 0.1)
    assert one == pytest.approx(two, rel=1e-6)


def test_unsupported_event():
    with pytest.raises(ValueError, match="no accountant supports"):
        fano.event_bounds(dp.UnsupportedDpEvent(), categories=2)


def test_without_dp_accounting(monkeypatch):
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.startswith("dp_accounting"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"bayesaudit\[accounting\]"):
        accounting._dp_accounting()
    result = fano.dp_sgd_bounds(1.0, 0.01, 1000, categories=10, accountants=False)
    assert [bound.method for bound in result.bounds] == ["erokhin"]
    by_hand = fano.best_bound(categories=10, rdp=([2, 4], [0.1, 0.3]))
    assert {bound.method for bound in by_hand.bounds} == {"erokhin", "renyi-fano", "rero-rdp"}


def test_fano_loads_nothing_heavy():
    heavy = "'pymc', 'matplotlib', 'pandas', 'scipy.stats', 'dp_accounting', 'scipy.optimize'"
    code = (
        "import sys\nfrom bayesaudit import fano\nfano.best_bound(categories=10, kl=0.1, rho=0.1)\n"
        f"print([m for m in ({heavy}) if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_best_bound_names_its_premise():
    result = fano.best_bound(
        prior=[0.5, 0.3, 0.2],
        neighboring_relation="replace-one",
        pure_epsilon=1.0,
        rho=0.5,
        gdp_mu=1.0,
        tradeoff=lambda x: max(0.0, 1 - np.e * x, (1 - x) / np.e),
        mutual_information=0.2,
    )
    advantages = [bound.advantage for bound in result.bounds]
    assert advantages == sorted(advantages)
    assert result.best.method == "pure-dp" and result.best.premise == "1-DP"
    assert result.best.neighboring_relation == "replace-one"
    assert {"erokhin", "paper", "han-verdu", "rero-zcdp", "gdp", "f-dp"} <= {
        bound.method for bound in result.bounds
    }
    assert result.to_dict()["best"]["inputs"] == {"epsilon": 1.0}
    uniform = fano.best_bound(categories=3, neighboring_relation="replace-one", gdp_mu=1.0)
    assert uniform.best.method == "f-dp-fixed-point"
    coin = fano.best_bound(categories=2, neighboring_relation="replace-one", pure_epsilon=0.1)
    assert coin["humphries"].advantage == pytest.approx(coin["pure-dp"].advantage, rel=1e-12)
    assert coin["yeom"].advantage > coin["erlingsson"].advantage > coin["humphries"].advantage
    certain = fano.best_bound(prior=[1.0, 0.0], kl=0.3, rdp=([2], [0.3]), gdp_mu=1.0, rho=0.2)
    assert {bound.advantage for bound in certain.bounds} == {0.0}
    with pytest.raises(KeyError):
        uniform["pure-dp"]
    with pytest.raises(TypeError, match="at least one premise"):
        fano.best_bound(categories=3)
    with pytest.raises(ValueError, match="equal shape"):
        fano.best_bound(categories=3, rdp=([2, 3], [0.1]))
    with pytest.raises(ValueError, match="finite epsilon at an order"):
        fano.best_bound(categories=3, rdp=([0.5], [0.1]))

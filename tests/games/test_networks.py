"""Closed-form norms and clipped sums against one record at a time, in double precision."""

import numpy as np
import pytest

from bayesaudit.games.networks import Network, with_bias


def loss_of(flat, x, y, n_classes, n_hidden):
    """Cross entropy of one record, written out on its own."""
    d = len(x) + 1
    x = np.append(x, 1.0)
    if n_hidden:
        first = flat[: n_hidden * d].reshape(n_hidden, d)
        second = flat[n_hidden * d :].reshape(n_classes, n_hidden + 1)
        z = second @ np.append(np.tanh(first @ x), 1.0)
    else:
        z = flat.reshape(n_classes, d) @ x
    return np.log(np.sum(np.exp(z - z.max()))) + z.max() - z[y]


def numeric_gradient(flat, *args, step=1e-6):
    gradient = np.empty_like(flat)
    for i in range(len(flat)):
        up, down = flat.copy(), flat.copy()
        up[i] += step
        down[i] -= step
        gradient[i] = (loss_of(up, *args) - loss_of(down, *args)) / (2 * step)
    return gradient


@pytest.fixture(params=[0, 5], ids=["softmax", "hidden"])
def case(request):
    rng = np.random.default_rng(1)
    network = Network(n_inputs=5, n_classes=3, n_hidden=request.param)
    flat = rng.normal(size=(2, network.n_parameters)).astype(np.float32)
    x = rng.normal(size=(2, 7, 4)).astype(np.float32)
    y = rng.integers(3, size=(2, 7))
    gradients = np.array(
        [
            [
                numeric_gradient(flat[m].astype(float), x[m, i].astype(float), y[m, i], 3,
                                 request.param)
                for i in range(7)
            ]
            for m in range(2)
        ]
    )  # fmt: skip
    return network, flat, x, y, gradients


def test_losses(case):
    network, flat, x, y, _ = case
    expected = [
        [loss_of(flat[m].astype(float), x[m, i].astype(float), y[m, i], 3, network.n_hidden)
         for i in range(7)]
        for m in range(2)
    ]  # fmt: skip
    np.testing.assert_allclose(network.losses(flat, with_bias(x), y), expected, rtol=1e-12)


def test_norms_are_those_of_numeric_gradients(case):
    network, flat, x, y, gradients = case
    padded = with_bias(x)
    norms = network.errors(flat, padded, y, (padded**2).sum(-1))[2]
    np.testing.assert_allclose(norms, (gradients**2).sum(-1), rtol=2e-5)


@pytest.mark.parametrize("clip", [0.3, 1.5, np.inf])
def test_clipped_sum_is_a_loop_over_records(case, clip):
    network, flat, x, y, gradients = case
    norms = np.linalg.norm(gradients, axis=-1, keepdims=True)
    assert clip == np.inf or (norms > clip).any()
    clipped = gradients * np.minimum(1, clip / norms)
    weight = np.array([[1, 1, 0, 1, 1, 0, 1]] * 2, dtype=np.float32)
    result = network.clipped_sum(flat, with_bias(x), y, clip, weight)
    expected = (clipped * weight[..., None]).sum(axis=1)
    np.testing.assert_allclose(result, expected, atol=3e-6)
    each = network.clipped_gradients(flat, with_bias(x), y, clip)
    np.testing.assert_allclose(each, clipped, atol=3e-6)


def test_zero_gradient_is_left_alone():
    network = Network(n_inputs=2, n_classes=2)
    flat = np.array([[0, 200, 0, -200]], dtype=np.float32)  # sure of class 0: r = 0 exactly
    x = with_bias(np.zeros((1, 1, 1)))
    assert not network.clipped_sum(flat, x, np.zeros((1, 1), int), 1.0).any()

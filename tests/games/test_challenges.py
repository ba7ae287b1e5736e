"""Designs of challenges and populations."""

import numpy as np
import pytest

from bayesaudit.games import (
    AttributeValues,
    AverageCase,
    Bias,
    CanaryCodes,
    Copies,
    Digits,
    Extremes,
    FarOut,
    GaussianClasses,
    Mislabelled,
    Orthogonal,
    PrivateCoordinate,
)

DATA = GaussianClasses(n_classes=4, n_features=6)
DESIGNS = [
    AverageCase(),
    Mislabelled(),
    FarOut(radius=5.0),
    Orthogonal(dims=3, radius=5.0),
    PrivateCoordinate(radius=5.0),
    Bias(),
    Extremes(),
    AttributeValues(values=(0.0, 1.0, 2.0), column=2),
    CanaryCodes(n_codes=5, radius=5.0),
]


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: type(design).__name__)
def test_shapes_and_seeds(design):
    first = design.draw(DATA, 20, 3, np.random.default_rng(1))
    assert first.base_x.shape[0] == first.base_y.shape[0] == 17
    assert first.x.shape[0] == 3
    assert first.x.shape[:2] == first.y.shape
    assert first.x.shape[2] == first.base_x.shape[1]
    assert (first.y >= 0).all() and (first.y < 4).all()
    again = design.draw(DATA, 20, 3, np.random.default_rng(1))
    np.testing.assert_array_equal(first.x, again.x)
    other = design.draw(DATA, 20, 3, np.random.default_rng(2))
    same = np.array_equal(first.x, other.x) and np.array_equal(first.y, other.y)
    assert same == design.fixed


def test_average_case_is_the_population():
    choice = AverageCase().draw(DATA, 3000, 2000, np.random.default_rng(1))
    for label in range(4):
        error = choice.x[choice.y == label].mean(axis=0) - DATA.means()[label]
        assert abs(error).max() < 5 / np.sqrt(6 * 900)


def test_mislabelled_is_never_right():
    data = GaussianClasses(n_classes=4, n_features=6, separation=60)
    choice = Mislabelled().draw(data, 100, 50, np.random.default_rng(1))
    nearest = ((choice.x[:, :, None] - data.means()) ** 2).sum(-1).argmin(-1)
    assert (nearest != choice.y).all()
    assert len(np.unique(choice.y)) == 4


def test_far_out_and_orthogonal_radius():
    far = FarOut(radius=5.0).draw(DATA, 20, 3, np.random.default_rng(1))
    np.testing.assert_allclose(np.linalg.norm(far.x, axis=-1), 5.0)
    orthogonal = Orthogonal(dims=3, radius=5.0).draw(DATA, 20, 3, np.random.default_rng(1))
    np.testing.assert_allclose(orthogonal.x[:, 0], -orthogonal.x[:, 1])
    np.testing.assert_allclose(np.linalg.norm(orthogonal.x, axis=-1), 5.0)
    assert not (orthogonal.base_x @ orthogonal.x[:, 0].T).any()


def test_private_coordinates_touch_nothing_else():
    choice = PrivateCoordinate(radius=5.0).draw(DATA, 20, 3, np.random.default_rng(1))
    np.testing.assert_array_equal(choice.x[:, 0] @ choice.x[:, 1].T, -25 * np.eye(3))
    assert not choice.base_x[:, 6:].any()


def test_copies():
    choice = Copies(radius=5.0).draw(DATA, 20, 1, np.random.default_rng(1))
    assert (choice.base_x == choice.x[0, 1]).all()
    assert (choice.x[0, 0] == -choice.x[0, 1]).all()
    with pytest.raises(ValueError, match="n_challenges must be 1"):
        Copies().draw(DATA, 20, 2, np.random.default_rng(1))


def test_attribute_and_codes():
    choice = AttributeValues((0.0, 1.0), column=2).draw(DATA, 20, 1, np.random.default_rng(1))
    differs = (choice.x[0, 0] != choice.x[0, 1]).nonzero()[0]
    np.testing.assert_array_equal(differs, [2])
    codes = CanaryCodes(n_codes=5, radius=2.0).draw(DATA, 20, 1, np.random.default_rng(1))
    np.testing.assert_array_equal(codes.x[0] @ codes.x[0].T, 4 * np.eye(5))


def test_label_noise():
    data = GaussianClasses(n_classes=4, n_features=6, separation=60, label_noise=0.4)
    x, y = data.draw(4000, np.random.default_rng(1))
    nearest = ((x[:, None] - data.means()) ** 2).sum(-1).argmin(-1)
    assert abs((nearest != y).mean() - 0.3) < 4 * np.sqrt(0.21 / 4000)


def test_digits():
    x, y = Digits().draw(1797, np.random.default_rng(1))
    assert len(np.unique(x, axis=0)) == 1797
    assert x.min() == 0 and x.max() == 1
    np.testing.assert_array_equal(np.unique(y), np.arange(10))
    with pytest.raises(ValueError, match="at most 1797"):
        Digits().draw(1798, np.random.default_rng(1))

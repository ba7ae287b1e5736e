"""DP-SGD in plain NumPy, one model at a time, correct or with a bug: nothing of the package's."""

import numpy as np

BUGS = (
    "noise/B",
    "noise/sqrt(B)",
    "sigma/2",
    "clip after averaging",
    "no clipping",
    "clip by layer",
    "norm without bias",
    "one noise number",
    "same noise in every training",
)


class Trainer:
    """Softmax regression, or one hidden tanh layer, from zero or random weights."""

    def __init__(
        self, sigma, *, hidden=0, zero=False, rate=1.0, steps=10, clip=1.0, lr=0.5, bug=""
    ):
        self.sigma, self.hidden, self.zero, self.rate = sigma, hidden, zero, rate
        self.steps, self.clip, self.lr, self.bug = steps, clip, lr, bug

    def initial(self, n_features, rng):
        shapes = [(n_features, 2)]
        if self.hidden:
            shapes = [(n_features, self.hidden), (self.hidden, 2)]
        scales = [0.0 if self.zero else shape[0] ** -0.5 for shape in shapes for _ in range(2)]
        shapes = [part for shape in shapes for part in (shape, shape[1:])]  # weights, biases
        return [scale * rng.normal(size=shape) for scale, shape in zip(scales, shapes, strict=True)]

    def forward(self, model, x):
        inputs = [x]
        if self.hidden:
            inputs.append(np.tanh(x @ model[0] + model[1]))
        return inputs, inputs[-1] @ model[-2] + model[-1]

    def loss(self, model, x, y):
        logits = self.forward(model, x)[1]
        logits -= logits.max(axis=1, keepdims=True)
        return np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(len(y)), y]

    def __call__(self, x, y, rng):
        x = x.astype(float)
        model, batch = self.initial(x.shape[1], rng), self.rate * len(x)
        for step in range(self.steps):
            drawn = rng.random(len(x)) < self.rate
            total = self.clipped_sum(model, x[drawn], y[drawn], batch)
            for part, gradient in zip(model, total, strict=True):
                part -= self.lr * (gradient + self.noise(gradient.shape, batch, step, rng)) / batch
        return model

    def noise(self, shape, batch, step, rng):
        divisor = {"noise/B": batch, "noise/sqrt(B)": np.sqrt(batch), "sigma/2": 2.0}
        scale = self.sigma * self.clip / divisor.get(self.bug, 1.0)
        if self.bug == "one noise number":
            return np.full(shape, scale * rng.normal())
        if self.bug == "same noise in every training":
            rng = np.random.default_rng([step, *shape])
        return scale * rng.normal(size=shape)

    def clipped_sum(self, model, x, y, batch):
        inputs, logits = self.forward(model, x)
        error = np.exp(logits - logits.max(axis=1, keepdims=True))
        error /= error.sum(axis=1, keepdims=True)
        error[np.arange(len(y)), y] -= 1
        errors = [error]
        if self.hidden:
            errors.insert(0, error @ model[2].T * (1 - inputs[1] ** 2))
        # Squared norms of a record's gradient: of each layer's weights and biases.
        squares = [
            (e**2).sum(1) * np.array([(a**2).sum(1), np.ones(len(a))])
            for a, e in zip(inputs, errors, strict=True)
        ]
        if self.bug == "norm without bias":
            squares = [s[:1] for s in squares]
        if self.bug == "clip by layer":  # every weight matrix and every bias by itself
            norms = [np.sqrt(part) for layer in squares for part in layer]
        else:
            norms = [np.sqrt(sum(layer.sum(0) for layer in squares))] * 2 * len(inputs)
        total = []
        for layer, (a, e) in enumerate(zip(inputs, errors, strict=True)):
            factors = [self.clip / np.maximum(n, self.clip) for n in norms[2 * layer :][:2]]
            if self.bug in ("clip after averaging", "no clipping"):
                factors = [np.ones(len(a))] * 2
            total += [a.T @ (e * factors[0][:, None]), (e * factors[1][:, None]).sum(0)]
        if self.bug == "clip after averaging":
            norm = np.sqrt(sum((part**2).sum() for part in total)) / batch
            total = [part * self.clip / max(norm, self.clip) for part in total]
        return total

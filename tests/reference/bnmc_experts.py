"""Reference cases of the linear classifiers (bnmc_logistic_*.json, bnmc_svm_*.json) and of the augmentations behind them
(bnmc_pg_*.json, bnmc_identities_*.json): posteriors by quadrature, fixed points of variational Bayes, modes, and the law
of Polya-Gamma variables from the series of its density.
"""

import itertools
import math

from common import log_determinant


def log_logistic(t):
    return -math.log1p(math.exp(-t)) if t >= 0 else t - math.log1p(math.exp(t))


def dot(x, y):
    return sum(a * b for a, b in zip(x, y))


def solved(matrix, right):
    """By elimination; positive definite."""
    rows = [list(row) + [value] for row, value in zip(matrix, right)]
    for i, pivot in enumerate(rows):
        for other in rows[i + 1 :]:
            share = other[i] / pivot[i]
            for j in range(i, len(pivot)):
                other[j] -= share * pivot[j]
    answer = [0.0] * len(rows)
    for i in reversed(range(len(rows))):
        answer[i] = (rows[i][-1] - dot(rows[i][i + 1 : -1], answer[i + 1 :])) / rows[i][i]
    return answer


def inverse(matrix):
    size = range(len(matrix))
    columns = [solved(matrix, [float(i == j) for i in size]) for j in size]
    return [[columns[j][i] for j in size] for i in size]


class Classifier:
    def __init__(self, case):
        self.x, self.y, self.svm = case["X"], case["y"], case["kind"] == "svm"
        self.mean, self.variance, self.width = case["prior_mean"], case["prior_var"], len(case["X"][0])

    def log_likelihood(self, w):
        if self.svm:
            return sum(-2 * max(0.0, 1 - y * dot(x, w)) for x, y in zip(self.x, self.y))
        return sum(log_logistic(dot(x, w) if y else -dot(x, w)) for x, y in zip(self.x, self.y))

    def log_joint(self, w):
        return self.log_likelihood(w) - 0.5 * sum(
            (a - m) ** 2 / v + math.log(2 * math.pi * v) for a, m, v in zip(w, self.mean, self.variance)
        )

    def posterior(self, center, spread):
        """By trapezoid sums, `spread` to each side."""
        steps = 4001 if self.width == 1 else 301
        axes = [[c - s + 2 * s * i / (steps - 1) for i in range(steps)] for c, s in zip(center, spread)]
        logs = [(w, self.log_joint(w)) for w in itertools.product(*axes)]
        top = max(log for _, log in logs)
        weighted = [(w, math.exp(log - top)) for w, log in logs if log > top - 60]
        total = math.fsum(p for _, p in weighted)
        mean = [math.fsum(p * w[j] for w, p in weighted) / total for j in range(self.width)]
        covariance = [
            [math.fsum(p * (w[i] - mean[i]) * (w[j] - mean[j]) for w, p in weighted) / total for j in range(self.width)]
            for i in range(self.width)
        ]
        cell = math.prod(axis[1] - axis[0] for axis in axes)
        return top + math.log(total * cell), mean, covariance

    def terms(self, mean, covariance):
        """Of every row: the mean of the augmenting precision, and the row's part of the bound."""
        for x, y in zip(self.x, self.y):
            second = sum(x[i] * x[j] * covariance[i][j] for i in range(self.width) for j in range(self.width))
            score = dot(x, mean)
            if self.svm:
                g = math.sqrt((1 - y * score) ** 2 + second)
                yield 1 / g, y * (1 + 1 / g), -(1 - y * score) - g
            else:
                c = math.sqrt(second + score * score)
                yield math.tanh(c / 2) / (2 * c), y - 0.5, log_logistic(c) - c / 2 + (y - 0.5) * score

    def divergence(self, mean, covariance):
        return 0.5 * (
            sum(
                (covariance[j][j] + (mean[j] - self.mean[j]) ** 2) / v - 1 + math.log(v)
                for j, v in enumerate(self.variance)
            )
            - log_determinant(covariance)
        )

    def variational(self, diagonal):
        size = range(self.width)
        mean, covariance = list(self.mean), [[float(i == j) * self.variance[i] for j in size] for i in size]
        for _ in range(5000):
            precision = [[float(i == j) / self.variance[i] for j in size] for i in size]
            right = [m / v for m, v in zip(self.mean, self.variance)]
            for (weight, pull, _), x in zip(self.terms(mean, covariance), self.x):
                for i in size:
                    right[i] += pull * x[i]
                    for j in size:
                        precision[i][j] += weight * x[i] * x[j]
            before, mean = mean, solved(precision, right)
            covariance = (
                [[float(i == j) / precision[i][i] for j in size] for i in size] if diagonal else inverse(precision)
            )
            if max(abs(a - b) for a, b in zip(mean, before)) < 1e-14:
                break
        bound = sum(part for _, _, part in self.terms(mean, covariance)) - self.divergence(mean, covariance)
        return mean, covariance, bound

    def mode(self):
        if self.svm:  # one weight: the joint is concave, so its slope changes its sign once
            low, high = -50.0, 50.0
            for _ in range(200):
                middle = (low + high) / 2
                slope = (self.mean[0] - middle) / self.variance[0] + sum(
                    2 * y * x[0] for x, y in zip(self.x, self.y) if 1 - y * x[0] * middle > 0
                )
                low, high = (middle, high) if slope > 0 else (low, middle)
            return [(low + high) / 2]
        size, w = range(self.width), list(self.mean)
        for _ in range(100):
            slope = [(m - a) / v for a, m, v in zip(w, self.mean, self.variance)]
            curvature = [[float(i == j) / self.variance[i] for j in size] for i in size]
            for x, y in zip(self.x, self.y):
                p = math.exp(log_logistic(dot(x, w)))
                for i in size:
                    slope[i] += (y - p) * x[i]
                    for j in size:
                        curvature[i][j] += p * (1 - p) * x[i] * x[j]
            w = [a + step for a, step in zip(w, solved(curvature, slope))]
        return w


def solve_expert(case):
    classifier = Classifier(case)
    mean, covariance, bound = classifier.variational(False)
    first = classifier.posterior(mean, [8 * math.sqrt(v) for v in classifier.variance])
    evidence, exact_mean, exact_covariance = classifier.posterior(
        first[1], [14 * math.sqrt(first[2][j][j]) for j in range(classifier.width)]
    )
    assert bound < evidence
    diagonal_mean, diagonal, diagonal_bound = classifier.variational(True)
    assert diagonal_bound < bound + 1e-12
    points = []
    for x in case["x_new"]:
        spread = sum(x[i] * x[j] * covariance[i][j] for i in range(len(x)) for j in range(len(x)))
        points.append(
            {"x": x, "vb_probit_approx": math.exp(log_logistic(dot(x, mean) / math.sqrt(1 + math.pi * spread / 8)))}
        )
    result = {
        "log_evidence": evidence,
        "posterior_mean": exact_mean,
        "posterior_cov": exact_covariance,
        "vb_mean": mean,
        "vb_cov": covariance,
        "vb_elbo": bound,
        "map": classifier.mode(),
        "x_new": points,
        "vb_diag": {
            "mean": diagonal_mean,
            "var": [diagonal[j][j] for j in range(len(diagonal))],
            "elbo": diagonal_bound,
        },
    }
    return {"case": case, "result": result}


# ---- augmentations ----


def polya_gamma_density(x, c):
    """PG(1, c): a quarter of a variable whose density is an alternating series, tilted by exp(-c^2 x / 2)."""
    y, total = 4 * x, 0.0
    for n in range(200):
        h = n + 0.5
        term = (
            math.pi * h * math.exp(-h * h * math.pi**2 * y / 2)
            if y > 0.64
            else math.pi * h * (2 / (math.pi * y)) ** 1.5 * math.exp(-2 * h * h / y)
        )
        total += (-1) ** n * term
        if term < 1e-18 * total:
            break
    return 4 * total * math.cosh(c / 2) * math.exp(-c * c * x / 2)


def integral(value, low, high, steps=4000):
    """Simpson's rule in log x."""
    a, b = math.log(low), math.log(high)
    width = (b - a) / steps

    def at(i):
        x = math.exp(a + width * i)
        return x * value(x) * (1 if i in (0, steps) else 4 if i % 2 else 2)

    return width / 3 * math.fsum(at(i) for i in range(steps + 1))


LEAST, MOST = 1e-4, 30.0  # beyond these the law of PG(1, c) has less than 1e-16


def solve_polya_gamma(case):
    laws = []
    for c in case["c"]:
        mean = 0.25 if c == 0 else math.tanh(c / 2) / (2 * c)
        variance = 1 / 24 if c == 0 else (math.sinh(c) - c) / (4 * c**3 * math.cosh(c / 2) ** 2)

        def moment(value, high=MOST, c=c):
            return integral(lambda x: value(x) * polya_gamma_density(x, c), LEAST, high)

        assert abs(moment(lambda x: 1.0) - 1) < 1e-10
        assert abs(moment(lambda x: x) - mean) < 1e-10
        assert abs(moment(lambda x: x * x) - mean**2 - variance) < 1e-10
        transforms = {}
        for s in case["s"]:
            closed = math.cosh(c / 2) / math.cosh(math.sqrt((c * c / 2 + s) / 2))
            assert abs(moment(lambda x, s=s: math.exp(-s * x)) - closed) < 1e-10
            transforms[repr(s)] = {"closed": closed}
        points = [share * mean for share in case["shares_of_mean"]]
        laws.append(
            {
                "c": c,
                "mean": mean,
                "var": variance,
                "laplace": transforms,
                "cdf": {repr(x): moment(lambda _: 1.0, x) for x in points},
            }
        )
    return {"case": case, "result": {"pg": laws}}


def solve_identities(case):
    hinge, logistic = [], []
    for u in case["u"]:

        def joint(x, u=u):
            return math.exp(-((x + u) ** 2) / (2 * x)) / math.sqrt(2 * math.pi * x)

        whole = integral(joint, 1e-8, 1e4, 40000)
        closed, mean = math.exp(-2 * max(u, 0.0)), abs(u) + 1
        assert (
            abs(whole - closed) < 1e-9 and abs(integral(lambda x: x * joint(x), 1e-8, 1e4, 40000) / whole - mean) < 1e-7
        )
        hinge.append({"u": u, "integral": whole, "closed": closed, "mean_lambda_closed": mean})
    for psi in case["psi"]:
        for y in (0, 1):
            augmented = (
                0.5
                * math.exp((y - 0.5) * psi)
                * integral(lambda x, psi=psi: math.exp(-x * psi * psi / 2) * polya_gamma_density(x, 0.0), LEAST, MOST)
            )
            closed = math.exp(log_logistic(psi if y else -psi))
            assert abs(augmented - closed) < 1e-10
            logistic.append({"psi": psi, "y": y, "augmented": augmented, "closed": closed})
    return {"case": case, "result": {"hinge": hinge, "logistic": logistic}}


def cases():
    line = [[-1.7], [-1.1], [-0.6], [-0.1], [0.4], [0.7], [1.3], [1.9], [2.4]]
    yield (
        "bnmc_logistic_line",
        solve_expert(
            {
                "kind": "logistic",
                "X": line,
                "y": [0, 1, 0, 0, 1, 0, 1, 1, 1],
                "prior_mean": [0.0],
                "prior_var": [2.5],
                "x_new": [[0.8], [-1.5]],
            }
        ),
    )
    plane = [[1.0, x[0]] for x in line]
    yield (
        "bnmc_logistic_plane",
        solve_expert(
            {
                "kind": "logistic",
                "X": plane,
                "y": [0, 0, 1, 0, 0, 1, 0, 1, 1],
                "prior_mean": [0.0, 0.0],
                "prior_var": [6.0, 1.5],
                "x_new": [[1.0, 0.8], [1.0, -1.5]],
            }
        ),
    )
    yield (
        "bnmc_svm_line",
        solve_expert(
            {
                "kind": "svm",
                "X": line,
                "y": [-1, 1, -1, -1, 1, -1, 1, 1, 1],
                "prior_mean": [0.0],
                "prior_var": [1.2],
                "x_new": [[0.8], [-1.5]],
            }
        ),
    )
    yield (
        "bnmc_pg_laws",
        solve_polya_gamma(
            {
                "kind": "pg",
                "c": [0.0, 0.3, 0.9, 2.0, 5.0, 12.0],
                "s": [0.7, 3.0],
                "shares_of_mean": [0.3, 0.6, 1.0, 1.4, 2.2],
            }
        ),
    )
    yield (
        "bnmc_identities_grid",
        solve_identities({"kind": "identities", "u": [-2.2, -0.7, 0.2, 0.8, 3.1], "psi": [-3.5, -0.8, 0.0, 0.9, 2.7]}),
    )

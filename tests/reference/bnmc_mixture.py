"""Reference cases of the variational mixture of features and labels (bnmc_mixture_*.json): sweeps from given
responsibilities with the bound after every half, stochastic steps, predictions, and the exact evidence and coassignments by
all K^N assignments.
"""

import itertools
import math

from common import lgamma, log_beta, log_sum


def digamma(x):
    total = 0.0
    while x < 12:
        total -= 1 / x
        x += 1
    y = 1 / (x * x)
    return (
        total
        + math.log(x)
        - 0.5 / x
        - y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132 - y * (691 / 32760 - y / 12))))))
    )


class Multinomial:
    def __init__(self, spec, width):
        self.prior, self.width = spec["conc"], width

    def posterior(self, rows, weights):
        return [self.prior + sum(w * (row[d] or 0) for row, w in zip(rows, weights)) for d in range(self.width)]

    def expected_log(self, posterior, row):
        whole = digamma(sum(posterior))
        return sum(x * (digamma(a) - whole) for x, a in zip(row, posterior) if x)

    def divergence(self, posterior):
        whole, prior = sum(posterior), self.prior * self.width
        return (
            lgamma(whole)
            - sum(map(lgamma, posterior))
            - lgamma(prior)
            + self.width * lgamma(self.prior)
            + sum((a - self.prior) * (digamma(a) - digamma(whole)) for a in posterior)
        )

    def log_predictive(self, posterior, row):
        return (
            sum(lgamma(a + (x or 0)) - lgamma(a) for a, x in zip(posterior, row))
            + lgamma(sum(posterior))
            - lgamma(sum(posterior) + sum(x or 0 for x in row))
        )

    def blended(self, old, new, rate, factor):
        return [(1 - rate) * (a - self.prior) + rate * factor * (b - self.prior) + self.prior for a, b in zip(old, new)]

    def log_marginal(self, rows):
        posterior = self.posterior(rows, [1.0] * len(rows))
        return (
            sum(map(lgamma, posterior))
            - lgamma(sum(posterior))
            - self.width * lgamma(self.prior)
            + lgamma(self.prior * self.width)
        )


class Bernoulli:
    def __init__(self, spec, width):
        self.prior, self.width = (spec["a"], spec["b"]), width

    def posterior(self, rows, weights):
        return [
            [
                self.prior[0] + sum(w * row[d] for row, w in zip(rows, weights) if row[d] is not None),
                self.prior[1] + sum(w * (1 - row[d]) for row, w in zip(rows, weights) if row[d] is not None),
            ]
            for d in range(self.width)
        ]

    def expected_log(self, posterior, row):
        return sum(digamma(a if x else b) - digamma(a + b) for (a, b), x in zip(posterior, row) if x is not None)

    def divergence(self, posterior):
        return sum(beta_divergence(a, b, *self.prior) for a, b in posterior)

    def log_predictive(self, posterior, row):
        return sum(math.log((a if x else b) / (a + b)) for (a, b), x in zip(posterior, row) if x is not None)

    def blended(self, old, new, rate, factor):
        return [
            [(1 - rate) * (x - p) + rate * factor * (y - p) + p for x, y, p in zip(a, b, self.prior)]
            for a, b in zip(old, new)
        ]

    def log_marginal(self, rows):
        return sum(log_beta(a, b) - log_beta(*self.prior) for a, b in self.posterior(rows, [1.0] * len(rows)))


class Gaussian:
    """Posteriors are (n, weighted sum, weighted sum of squares): blending is affine in those."""

    def __init__(self, spec, width):
        self.m0, self.k0, self.a0, self.b0, self.width = spec["m0"], spec["k0"], spec["a0"], spec["b0"], width

    def posterior(self, rows, weights):
        cells = [[(row[d], w) for row, w in zip(rows, weights) if row[d] is not None] for d in range(self.width)]
        return [
            [sum(w for _, w in column), sum(w * x for x, w in column), sum(w * x * x for x, w in column)]
            for column in cells
        ]

    def numbers(self, statistics):
        n, s1, s2 = statistics
        k = self.k0 + n
        m = (self.k0 * self.m0 + s1) / k
        return m, k, self.a0 + n / 2, self.b0 + (s2 + self.k0 * self.m0**2 - k * m * m) / 2

    def expected_log(self, posterior, row):
        total = 0.0
        for statistics, x in zip(posterior, row):
            if x is not None:
                m, k, a, b = self.numbers(statistics)
                total += 0.5 * (digamma(a) - math.log(b) - math.log(2 * math.pi) - 1 / k - a / b * (x - m) ** 2)
        return total

    def divergence(self, posterior):
        total = 0.0
        for m, k, a, b in map(self.numbers, posterior):
            total += (
                (a - self.a0) * digamma(a)
                - lgamma(a)
                + lgamma(self.a0)
                + self.a0 * math.log(b / self.b0)
                + a * (self.b0 - b) / b
                + 0.5 * (math.log(k / self.k0) + self.k0 / k - 1 + self.k0 * (m - self.m0) ** 2 * a / b)
            )
        return total

    def log_predictive(self, posterior, row):
        total = 0.0
        for (m, k, a, b), x in zip(map(self.numbers, posterior), row):
            if x is not None:
                scale = b * (k + 1) / (a * k)
                total += (
                    lgamma(a + 0.5)
                    - lgamma(a)
                    - 0.5 * math.log(2 * a * math.pi * scale)
                    - (a + 0.5) * math.log1p((x - m) ** 2 / (2 * a * scale))
                )
        return total

    def blended(self, old, new, rate, factor):
        return [[(1 - rate) * x + rate * factor * y for x, y in zip(a, b)] for a, b in zip(old, new)]

    def log_marginal(self, rows):
        total = 0.0
        for statistics in self.posterior(rows, [1.0] * len(rows)):
            _, k, a, b = self.numbers(statistics)
            total += (
                lgamma(a)
                - lgamma(self.a0)
                + self.a0 * math.log(self.b0)
                - a * math.log(b)
                + 0.5 * math.log(self.k0 / k)
                - statistics[0] / 2 * math.log(2 * math.pi)
            )
        return total


BLOCKS = {"multinomial": Multinomial, "bernoulli": Bernoulli, "gaussian": Gaussian}


def beta_divergence(a, b, a0, b0):
    return (
        log_beta(a0, b0)
        - log_beta(a, b)
        + (a - a0) * digamma(a)
        + (b - b0) * digamma(b)
        - (a + b - a0 - b0) * digamma(a + b)
    )


class Mixture:
    def __init__(self, case):
        self.k, self.alpha, self.x, self.y = case["K"], case["alpha"], case["X"], case["Y"]
        self.features, self.labels = (
            BLOCKS[case[name]["family"]](case[name], len(case[cells][0]))
            for name, cells in (("features", "X"), ("labels", "Y"))
        )

    def globals_of(self, r, rows=None):
        rows = range(len(self.x)) if rows is None else rows
        clusters = list(zip(*r))
        counts = [sum(column) for column in clusters]
        return {
            "counts": counts,
            "F": [self.features.posterior([self.x[i] for i in rows], column) for column in clusters],
            "L": [self.labels.posterior([self.y[i] for i in rows], column) for column in clusters],
        }

    def sticks(self, counts):
        return [(1 + counts[k], self.alpha + sum(counts[k + 1 :])) for k in range(self.k - 1)]

    def elog_pi(self, counts):
        sticks = self.sticks(counts)
        return [
            (digamma(sticks[k][0]) - digamma(sum(sticks[k])) if k < self.k - 1 else 0.0)
            + sum(digamma(b) - digamma(a + b) for a, b in sticks[:k])
            for k in range(self.k)
        ]

    def mean_pi(self, counts):
        sticks = self.sticks(counts)
        return [
            (sticks[k][0] / sum(sticks[k]) if k < self.k - 1 else 1.0) * math.prod(b / (a + b) for a, b in sticks[:k])
            for k in range(self.k)
        ]

    def log_odds(self, state, i):
        weights = self.elog_pi(state["counts"])
        return [
            weights[k]
            + self.features.expected_log(state["F"][k], self.x[i])
            + self.labels.expected_log(state["L"][k], self.y[i])
            for k in range(self.k)
        ]

    def local(self, state, i):
        logs = self.log_odds(state, i)
        total = log_sum(logs)
        return [math.exp(log - total) for log in logs]

    def elbo(self, state, r):
        total = -sum(beta_divergence(a, b, 1.0, self.alpha) for a, b in self.sticks(state["counts"]))
        total -= sum(map(self.features.divergence, state["F"])) + sum(map(self.labels.divergence, state["L"]))
        for i, row in enumerate(r):
            total += sum(p * (log - math.log(p)) for p, log in zip(row, self.log_odds(state, i)) if p > 0)
        return total

    def shown(self, state):
        """Dirichlet and Beta posteriors have one form; that of Gaussian cells is left out."""
        return {"S": [list(part) for part in zip(*self.sticks(state["counts"]))]} | {
            name: [[None] * block.width if isinstance(block, Gaussian) else posterior for posterior in state[name]]
            for name, block in (("F", self.features), ("L", self.labels))
        }


def stochastic(mixture, case):
    r, state, log = case["R0"], mixture.globals_of(case["R0"]), []
    for t, rows in enumerate(case["svi"]["batches"], start=1):
        rate = (t + case["svi"]["tau"]) ** -case["svi"]["kappa"]
        r = [mixture.local(state, i) for i in rows]
        batch, factor = mixture.globals_of(r, rows), len(case["X"]) / len(rows)
        state = {
            "counts": [(1 - rate) * a + rate * factor * b for a, b in zip(state["counts"], batch["counts"])],
            "F": [mixture.features.blended(a, b, rate, factor) for a, b in zip(state["F"], batch["F"])],
            "L": [mixture.labels.blended(a, b, rate, factor) for a, b in zip(state["L"], batch["L"])],
        }
        log.append({"t": t, "rho": rate, "resp": r, "counts": state["counts"]})
    return {"log": log, "globals": mixture.shown(state)}


def exact(mixture):
    n, logs, ways = len(mixture.x), [], list(itertools.product(range(mixture.k), repeat=len(mixture.x)))
    known = {}

    def log_block(rows):
        if rows not in known:
            known[rows] = mixture.features.log_marginal([mixture.x[i] for i in rows]) + mixture.labels.log_marginal(
                [mixture.y[i] for i in rows]
            )
        return known[rows]

    for z in ways:
        blocks = [tuple(i for i in range(n) if z[i] == k) for k in range(mixture.k)]
        sizes = list(map(len, blocks))
        logs.append(
            sum(
                log_beta(1 + sizes[k], mixture.alpha + sum(sizes[k + 1 :])) - log_beta(1, mixture.alpha)
                for k in range(mixture.k - 1)
            )
            + sum(map(log_block, blocks))
        )
    total = log_sum(logs)
    together = [[0.0] * n for _ in range(n)]
    for z, log in zip(ways, logs):
        p = math.exp(log - total)
        for i in range(n):
            for j in range(n):
                together[i][j] += p * (z[i] == z[j])
    return {"log_evidence": total, "coassign": together}


def solve(case, sweeps=10):
    mixture, r, trace = Mixture(case), case["R0"], []
    for _ in range(sweeps):
        state = mixture.globals_of(r)
        first = mixture.elbo(state, r)
        r = [mixture.local(state, i) for i in range(len(r))]
        trace.append([first, mixture.elbo(state, r)])
    assert all(b >= a - 1e-9 * abs(a) for a, b in itertools.pairwise(itertools.chain(*trace)))
    state = mixture.globals_of(r)
    result = {
        "elbo_trace_first_10": trace,
        "elbo": trace[-1][1],
        "resp": r,
        "globals": mixture.shown(state),
        "elog_pi": mixture.elog_pi(state["counts"]),
        "mean_pi": mixture.mean_pi(state["counts"]),
        "exact": exact(mixture),
        "svi": stochastic(mixture, case),
    }
    result["checks"] = {"evidence_minus_elbo": result["exact"]["log_evidence"] - result["elbo"]}
    joint = [
        [
            math.log(weight) + mixture.features.log_predictive(posterior, row)
            for weight, posterior in zip(result["mean_pi"], state["F"])
        ]
        for row in case["X_new"]
    ]
    result["predict"] = {
        "log_p_x_predictive": list(map(log_sum, joint)),
        "resp_predictive": [[math.exp(log - log_sum(logs)) for log in logs] for logs in joint],
    }
    return {"case": case, "result": result}


def cases():
    svi = {"tau": 1.0, "kappa": 0.6}
    yield (
        "bnmc_mixture_words",
        solve(
            {
                "kind": "mixture",
                "K": 3,
                "alpha": 1.4,
                "features": {"family": "multinomial", "conc": 0.7},
                "labels": {"family": "multinomial", "conc": 0.4},
                "X": [[4, 0, 2], [5, 1, 1], [1, 6, 0], [0, 4, 2], [2, 1, 5], [0, 0, 6], [3, 3, 1]],
                "Y": [
                    [1, 0, 0, 1],
                    [1, 0, 0, 0],
                    [0, 1, 1, 0],
                    [0, 1, 0, 0],
                    [None, None, None, None],
                    [0, 0, 1, 1],
                    [1, 1, None, 0],
                ],
                "R0": [
                    [0.7, 0.2, 0.1],
                    [0.6, 0.2, 0.2],
                    [0.2, 0.7, 0.1],
                    [0.1, 0.7, 0.2],
                    [0.2, 0.2, 0.6],
                    [0.1, 0.2, 0.7],
                    [0.4, 0.4, 0.2],
                ],
                "svi": svi | {"batches": [[0, 2], [4, 6], [1, 3, 5], [2, 5]]},
                "X_new": [[3, 0, 1], [0, 5, 1], [1, 1, 1], [0, 0, 0]],
            }
        ),
    )
    yield (
        "bnmc_mixture_separated_words",
        solve(
            {
                "kind": "mixture",
                "K": 2,
                "alpha": 0.8,
                "features": {"family": "multinomial", "conc": 0.6},
                "labels": {"family": "multinomial", "conc": 0.5},
                "X": [[20, 14, 1], [24, 11, 0], [18, 19, 0], [2, 0, 27], [0, 1, 33], [1, 1, 24]],
                "Y": [[1, 0], [1, 1], [None, None], [0, 1], [0, 1], [0, 1]],
                "R0": [[0.7, 0.3], [0.8, 0.2], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8], [0.4, 0.6]],
                "svi": svi | {"batches": [[0, 3], [1, 4], [2, 5]]},
                "X_new": [[12, 9, 1], [0, 1, 15]],
            }
        ),
    )
    yield (
        "bnmc_mixture_binary",
        solve(
            {
                "kind": "mixture",
                "K": 3,
                "alpha": 1.0,
                "features": {"family": "bernoulli", "a": 0.6, "b": 0.9},
                "labels": {"family": "bernoulli", "a": 0.5, "b": 0.8},
                "X": [[1, 0, 1, 1], [1, 0, None, 1], [0, 1, 0, 0], [0, 1, 0, 1], [1, 1, 0, None], [0, 0, 0, 0]],
                "Y": [[1, 0], [1, None], [0, 1], [0, 1], [None, None], [0, 0]],
                "R0": [
                    [0.8, 0.1, 0.1],
                    [0.6, 0.3, 0.1],
                    [0.1, 0.7, 0.2],
                    [0.2, 0.7, 0.1],
                    [0.3, 0.3, 0.4],
                    [0.1, 0.2, 0.7],
                ],
                "svi": svi | {"batches": [[0, 2], [4, 5], [1, 3]]},
                "X_new": [[1, 0, 1, 1], [0, 1, None, 0]],
            }
        ),
    )
    yield (
        "bnmc_mixture_reals",
        solve(
            {
                "kind": "mixture",
                "K": 2,
                "alpha": 1.2,
                "features": {"family": "gaussian", "m0": 0.3, "k0": 0.4, "a0": 1.6, "b0": 0.9},
                "labels": {"family": "bernoulli", "a": 0.7, "b": 0.6},
                "X": [[-1.2, 0.4], [-0.9, None], [1.6, 2.1], [2.3, 1.4], [0.2, 0.8], [1.9, None]],
                "Y": [[1, 0], [1, 0], [0, 1], [0, None], [1, 1], [0, 1]],
                "R0": [[0.8, 0.2], [0.7, 0.3], [0.2, 0.8], [0.3, 0.7], [0.5, 0.5], [0.1, 0.9]],
                "svi": svi | {"batches": [[0, 3], [1, 4], [2, 5]]},
                "X_new": [[-1.0, 0.5], [2.0, None]],
            }
        ),
    )

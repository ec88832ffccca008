"""What the enumerators of several models share: sums of logs, partitions, and marginals of conjugate families."""

import math

lgamma = math.lgamma


def log_sum(terms):
    top = max(terms)
    return top if top == -math.inf else top + math.log(sum(math.exp(term - top) for term in terms))


def log_beta(p, q):
    return lgamma(p) + lgamma(q) - lgamma(p + q)


def log_crp(alpha, partition, n):
    return lgamma(alpha) - lgamma(alpha + n) + sum(math.log(alpha) + lgamma(len(block)) for block in partition)


def set_partitions(items):
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for partition in set_partitions(rest):
        for i, block in enumerate(partition):
            yield partition[:i] + [[first] + block] + partition[i + 1 :]
        yield [[first]] + partition


def labels_of(partition):
    """Clusters numbered in the order of their first rows."""
    blocks = sorted(partition, key=min)
    return [next(k for k, block in enumerate(blocks) if row in block) for row in range(sum(map(len, blocks)))]


def partition_key(partition):
    return "".join(map(str, labels_of(partition)))


def log_determinant(matrix):
    """Of a positive definite matrix, by elimination."""
    rows, total = [list(row) for row in matrix], 0.0
    for i, pivot_row in enumerate(rows):
        total += math.log(pivot_row[i])
        for other in rows[i + 1 :]:
            share = other[i] / pivot_row[i]
            for j in range(i, len(rows)):
                other[j] -= share * pivot_row[j]
    return total


def log_multigamma(x, d):
    return d * (d - 1) / 4 * math.log(math.pi) + sum(lgamma(x - j / 2) for j in range(d))


def outer(x, y):
    return [[a * b for b in y] for a in x]


def added(*terms):
    """The sum of (factor, matrix)."""
    size = range(len(terms[0][1]))
    return [[sum(factor * matrix[i][j] for factor, matrix in terms) for j in size] for i in size]


def mean_of(rows):
    return [sum(column) / len(rows) for column in zip(*rows)]


def minus(x, y):
    return [a - b for a, b in zip(x, y)]


def scatter(rows, center):
    deviations = [minus(x, center) for x in rows]
    return [[sum(e[i] * e[j] for e in deviations) for j in range(len(center))] for i in range(len(center))]


def log_niw(rows, mu0, kappa0, nu0, psi0):
    """Rows of a normal law whose mean and covariance have a normal-inverse-Wishart prior."""
    n, d = len(rows), len(mu0)
    mean = mean_of(rows)
    shift = minus(mean, mu0)
    psi = added((1.0, psi0), (1.0, scatter(rows, mean)), (kappa0 * n / (kappa0 + n), outer(shift, shift)))
    return (
        -n * d / 2 * math.log(math.pi)
        + log_multigamma((nu0 + n) / 2, d)
        - log_multigamma(nu0 / 2, d)
        + nu0 / 2 * log_determinant(psi0)
        - (nu0 + n) / 2 * log_determinant(psi)
        + d / 2 * math.log(kappa0 / (kappa0 + n))
    )


def log_bernoulli(rows, a, b):
    n = len(rows)
    return sum(log_beta(a + sum(column), b + n - sum(column)) - log_beta(a, b) for column in zip(*rows))

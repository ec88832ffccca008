"""Reference cases of mixtures (nrmm_*.json): every partition of six to eight rows under the Dirichlet and the normalized
generalized gamma process, with concentration and discount fixed or integrated against their priors.

Integrals are trapezoid sums in log alpha, log t (t = (1 + u)^sigma - 1) and logit sigma: analytic integrands that vanish
at both ends, for which the rule converges faster than any power of the step.
"""

import math

from common import labels_of, lgamma, log_bernoulli, log_beta, log_niw, log_sum, partition_key, set_partitions


def log_marginal(case, rows):
    hyper, cells = case["hyper"], [case["X"][i] for i in rows]
    if case["lik"] == "niw":
        return log_niw(cells, hyper["mu0"], hyper["kappa0"], hyper["nu0"], hyper["Psi0"])
    return log_bernoulli(cells, hyper["a"], hyper["b"])


def grid(low, high, step):
    return [low + step * i for i in range(round((high - low) / step) + 1)]


class Average:
    """Weights exp(log) at equal steps, and means of functions under them."""

    def __init__(self, points, log_weight):
        logs = [log_weight(x) for x in points]
        total = log_sum(logs)
        self.points = [(x, math.exp(log - total)) for x, log in zip(points, logs) if log > total - 45]
        self.log_integral = total + math.log(points[1] - points[0])

    def __call__(self, value):
        return sum(weight * value(x) for x, weight in self.points)


class DirichletProcess:
    def __init__(self, case):
        self.n, self.alpha, self.prior = len(case["X"]), case["alpha"], case.get("alpha_prior")
        self.known = {}

    def at(self, clusters):
        """log of the integral of alpha^K Gamma(alpha) / Gamma(alpha + n), and the mean of alpha."""
        if clusters not in self.known:

            def log_value(log_alpha):
                alpha = math.exp(log_alpha)
                return clusters * log_alpha + lgamma(alpha) - lgamma(alpha + self.n)

            if self.alpha is not None:
                self.known[clusters] = log_value(math.log(self.alpha)), {"alpha": self.alpha}
            else:
                a, b = self.prior
                average = Average(
                    grid(-40.0, 10.0, 0.02),
                    lambda log_alpha: (
                        log_value(log_alpha) + a * (math.log(b) + log_alpha) - lgamma(a) - b * math.exp(log_alpha)
                    ),
                )
                self.known[clusters] = average.log_integral, {"alpha": average(math.exp)}
        return self.known[clusters]

    def log_v(self, clusters):
        return self.at(clusters)[0]

    def log_partition(self, sizes):
        log_v, moments = self.at(len(sizes))
        return log_v + sum(map(lgamma, sizes)), moments

    def log_kappa(self, n, u):
        return math.log(self.alpha) + lgamma(n)


class GeneralizedGamma:
    def __init__(self, case):
        self.n, self.alpha, self.sigma = len(case["X"]), case["alpha"], case["sigma"]
        self.alpha_prior, self.sigma_prior = case.get("alpha_prior"), case.get("sigma_prior")
        self.known = {}

    def average(self, clusters, sigma):
        """Over log t, as in the integral of V(n, K)."""

        def log_weight(s):
            t = math.exp(s)
            log_alpha_part = (
                clusters * math.log(self.alpha) - self.alpha * t
                if self.alpha is not None
                else self.alpha_prior[0] * math.log(self.alpha_prior[1])
                + lgamma(self.alpha_prior[0] + clusters)
                - lgamma(self.alpha_prior[0])
                - (self.alpha_prior[0] + clusters) * math.log(self.alpha_prior[1] + t)
            )
            return (
                s
                + (self.n - 1) * math.log(-math.expm1(-math.log1p(t) / sigma))
                + (clusters - 1) * math.log1p(t)
                + log_alpha_part
                + (clusters - 1) * math.log(sigma)
                - lgamma(self.n)
            )

        return Average(grid(-40.0, 12.0 if self.alpha is not None else 60.0, 0.05), log_weight)

    def at(self, clusters, sigma):
        if (clusters, sigma) not in self.known:
            average = self.average(clusters, sigma)

            def log_u(s):
                x = math.log1p(math.exp(s)) / sigma
                return x + math.log(-math.expm1(-x))

            moments = {
                "log_u": average(log_u),
                "log_u_square": average(lambda s: log_u(s) ** 2),
                "log_t": average(lambda s: s),
                "log_t_square": average(lambda s: s * s),
                "sigma": sigma,
                "alpha": self.alpha
                if self.alpha is not None
                else average(lambda s: (self.alpha_prior[0] + clusters) / (self.alpha_prior[1] + math.exp(s))),
            }
            self.known[clusters, sigma] = average.log_integral, moments
        return self.known[clusters, sigma]

    def log_v(self, clusters):
        return self.at(clusters, self.sigma)[0]

    def log_partition_at(self, sizes, sigma):
        return self.at(len(sizes), sigma)[0] + sum(lgamma(n - sigma) - lgamma(1 - sigma) for n in sizes)

    def log_partition(self, sizes):
        if self.sigma is not None:
            return self.log_partition_at(sizes, self.sigma), self.at(len(sizes), self.sigma)[1]
        if tuple(sizes) not in self.known:
            c, d = self.sigma_prior

            def sigma_at(x):
                return 1 / (1 + math.exp(-x))

            # The Jacobian of the logit raises both powers of the Beta density by one.
            average = Average(
                grid(-24.0, 22.0, 0.25),
                lambda x: (
                    c * math.log(sigma_at(x))
                    + d * math.log(sigma_at(-x))
                    - log_beta(c, d)
                    + self.log_partition_at(sizes, sigma_at(x))
                ),
            )
            names = self.at(len(sizes), sigma_at(0.0))[1]
            self.known[tuple(sizes)] = (
                average.log_integral,
                {name: average(lambda x, name=name: self.at(len(sizes), sigma_at(x))[1][name]) for name in names},
            )
        return self.known[tuple(sizes)]

    def log_kappa(self, n, u):
        return (
            math.log(self.alpha * self.sigma)
            + lgamma(n - self.sigma)
            - lgamma(1 - self.sigma)
            + (self.sigma - n) * math.log1p(u)
        )

    def log_factor(self, u):
        """What (J) has besides the clusters."""
        return (self.n - 1) * math.log(u) - lgamma(self.n) - self.alpha * math.expm1(self.sigma * math.log1p(u))


def process_of(case):
    return (DirichletProcess if case["prior"] == "dp" else GeneralizedGamma)(case)


class Potentials:
    """h, phi and d of sets of rows and of trees over rows (nested pairs), in logs."""

    def __init__(self, case, u):
        self.case, self.process, self.u, self.known = case, process_of(case), u, {}

    def log_h(self, rows):
        rows = tuple(sorted(rows))
        if rows not in self.known:
            self.known[rows] = self.process.log_kappa(len(rows), self.u) + log_marginal(self.case, rows)
        return self.known[rows]

    def log_phi(self, tree):
        if isinstance(tree, int):
            return self.log_h((tree,))
        if ("phi", tree) not in self.known:
            self.known["phi", tree] = log_sum([self.log_h(leaves(tree)), self.log_phi(tree[0]) + self.log_phi(tree[1])])
        return self.known["phi", tree]

    def log_d(self, a, b):
        """Between two trees."""
        return self.log_phi(a) + self.log_phi(b) - self.log_h(leaves(a) + leaves(b))

    def d_of(self, tree):
        return 0.0 if isinstance(tree, int) else math.exp(self.log_d(*tree))


def leaves(tree):
    return (tree,) if isinstance(tree, int) else leaves(tree[0]) + leaves(tree[1])


def nodes(tree):
    return [tree] if isinstance(tree, int) else [tree] + nodes(tree[0]) + nodes(tree[1])


def frozen(shape):
    return shape if isinstance(shape, int) else (frozen(shape[0]), frozen(shape[1]))


def sample_sub(potentials, tree, inner_only):
    """The law of the published choice of a node: d(node) + the largest d."""
    largest = max(map(potentials.d_of, nodes(tree)))
    weights = {
        node: potentials.d_of(node) + largest for node in nodes(tree) if not (inner_only and isinstance(node, int))
    }
    total = sum(weights.values())
    if total == 0:  # a single leaf
        return dict.fromkeys(weights, 1.0)
    return {node: weight / total for node, weight in weights.items()}


def tree_statistics(case, tree, u):
    potentials = Potentials(case, u)
    tree = frozen(tree)
    everywhere, inside = sample_sub(potentials, tree, False), sample_sub(potentials, tree, True)
    listed = []
    for node in nodes(tree):
        log_h, log_phi = potentials.log_h(leaves(node)), potentials.log_phi(node)
        listed.append(
            {
                "leaves": sorted(leaves(node)),
                "log_h": log_h,
                "log_phi": log_phi,
                "log_d": None if isinstance(node, int) else potentials.log_d(*node),
                "p_h": math.exp(log_h - log_phi),
                "samplesub_all": everywhere[node],
                "samplesub_internal": inside.get(node, 0.0),
            }
        )
    return listed


def evaluate_labels(case, labels, u):
    process = process_of(case)
    blocks = [[i for i, label in enumerate(labels) if label == k] for k in range(max(labels) + 1)]
    marginals = [log_marginal(case, block) for block in blocks]
    log_prior = process.log_partition(sorted(map(len, blocks)))[0]
    answer = {
        "labels": labels,
        "log_lik": sum(marginals),
        "block_log_marginals": marginals,
        "log_prior_u_integrated": log_prior,
        "log_joint_u_integrated": log_prior + sum(marginals),
    }
    if u is not None:
        answer |= {
            "u": u,
            "log_joint_at_u": process.log_factor(u)
            + sum(marginals)
            + sum(process.log_kappa(len(block), u) for block in blocks),
        }
    return answer


def solve(case, labels=None, tree=None, u=None, listed=250):
    process, n = process_of(case), len(case["X"])
    marginals, entries = {}, []
    for partition in set_partitions(list(range(n))):
        for block in map(tuple, partition):
            if block not in marginals:
                marginals[block] = log_marginal(case, block)
        log_prior, moments = process.log_partition(sorted(map(len, partition)))
        entries.append((partition, log_prior, log_prior + sum(marginals[tuple(block)] for block in partition), moments))
    mass = sum(math.exp(entry[1]) for entry in entries)
    assert abs(mass - 1) < 1e-9, mass
    evidence = log_sum([entry[2] for entry in entries])
    weighted = [(math.exp(log_joint - evidence), partition, moments) for partition, _, log_joint, moments in entries]

    def total(value):
        return math.fsum(p * value(partition) for p, partition, _ in weighted)

    mean = {name: math.fsum(p * moments[name] for p, _, moments in weighted) for name in weighted[0][2]}
    for name in ("log_u", "log_t"):
        if name in mean:
            mean[name + "_var"] = mean.pop(name + "_square") - mean[name] ** 2
    if case["prior"] != "dp" and case["sigma"] is None:  # log u grows like 1 / sigma: its square has no mean
        del mean["log_u"], mean["log_u_var"]
    result = {"input": case, "n": n}
    if labels is not None:
        result["labels_eval"] = evaluate_labels(case, labels, u)
    if tree is not None:
        result |= {"tree": tree, "tree_u": u, "tree_stats": tree_statistics(case, tree, u)}
    fixed = case["prior"] == "dp" or case["sigma"] is not None
    result |= {
        "log_V": {str(k): process.log_v(k) for k in range(1, n + 1)} if fixed else {},
        "log_marginal_likelihood": evidence,
        "prior_total_mass": mass,
        "K_distribution": {str(k): total(lambda partition, k=k: len(partition) == k) for k in range(1, n + 1)},
        "coclustering": [
            [total(lambda partition, i=i, j=j: any(i in block and j in block for block in partition)) for j in range(n)]
            for i in range(n)
        ],
        "posterior_moments": mean,
        "n_partitions": len(weighted),
    }
    best = sorted(weighted, key=lambda entry: -entry[0])
    result |= {
        "map_partition": labels_of(best[0][1]),
        "map_probability": best[0][0],
        "partitions": [[partition_key(partition), p] for p, partition, _ in best[:listed]],
    }
    return result


def cases():
    plane = {
        "X": [[-0.8, 0.5], [-0.3, 0.1], [0.2, 0.9], [1.9, -1.2], [2.4, -0.6], [0.9, -0.4]],
        "lik": "niw",
        "alpha_prior": None,
        "sigma_prior": None,
        "hyper": {"mu0": [0.5, 0.0], "kappa0": 0.3, "nu0": 4.2, "Psi0": [[0.7, -0.1], [-0.1, 0.5]]},
    }
    dp, ngg = {"prior": "dp", "alpha": 0.7, "sigma": None}, {"prior": "nggp", "alpha": 1.2, "sigma": 0.3}
    yield "nrmm_posterior_dp_gaussian", solve(plane | dp, [0, 0, 0, 1, 1, 2], [[0, [1, 2]], [[3, 4], 5]])
    yield "nrmm_posterior_ngg_gaussian", solve(plane | ngg, [0, 0, 1, 2, 2, 2], [[[0, 2], 1], [3, [4, 5]]], 2.3)
    binary = {
        "X": [[1, 1, 0, 1], [1, 1, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 0, 1, 0]],
        "lik": "bernoulli",
        "hyper": {"a": 0.7, "b": 0.4},
        "alpha_prior": None,
        "sigma_prior": None,
    }
    yield "nrmm_posterior_dp_bernoulli", solve(binary | dp | {"alpha": 1.3}, [0, 0, 0, 1, 1, 2, 1])
    line = {
        "X": [[-1.6], [-1.3], [-0.4], [0.3], [0.6], [2.2], [2.9]],
        "lik": "niw",
        "hyper": {"mu0": [0.2], "kappa0": 0.25, "nu0": 2.5, "Psi0": [[0.6]]},
    }
    yield (
        "nrmm_posterior_dp_learned",
        solve(line | {"prior": "dp", "alpha": None, "sigma": None, "alpha_prior": [1.4, 0.9], "sigma_prior": None}),
    )
    yield (
        "nrmm_posterior_ngg_learned",
        solve(
            line
            | {
                "X": line["X"][1:],
                "prior": "nggp",
                "alpha": None,
                "sigma": None,
                "alpha_prior": [2.0, 1.5],
                "sigma_prior": [1.5, 2.0],
            }
        ),
    )

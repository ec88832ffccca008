"""Reference case of multi-label measures (bnmc_metrics_*.json), each written as its definition, row by row and pair by pair."""


def ratio(up, down):
    return up / down if down else 0.0


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def ranking_loss(truth, score):
    pairs = [(a, b) for a, positive in zip(score, truth) if positive for b, other in zip(score, truth) if not other]
    return ratio(sum(a <= b for a, b in pairs), len(pairs))


def ranking_precision(truth, score):
    positives = [s for s, positive in zip(score, truth) if positive]
    if len(positives) in (0, len(truth)):
        return 1.0
    return mean(sum(other >= s for other in positives) / sum(other >= s for other in score) for s in positives)


def coverage(truth, score):
    positives = [s for s, positive in zip(score, truth) if positive]
    return sum(s >= min(positives) for s in score) if positives else 0


def precision_at(k, truth, score):
    best = sorted(range(len(score)), key=lambda c: (-score[c], c))[:k]
    return sum(truth[c] for c in best) / k


def solve(case):
    rows = list(zip(case["Y"], case["pred"], case["score"]))
    cells = [(y, p) for truth, chosen, _ in rows for y, p in zip(truth, chosen)]
    by_label = [list(zip(*columns)) for columns in zip(zip(*case["Y"]), zip(*case["pred"]))]

    def f1(pairs):
        return ratio(2 * sum(y and p for y, p in pairs), sum(y + p for y, p in pairs))

    result = {
        "hamming_loss": mean(y != p for y, p in cells),
        "subset_accuracy": mean(y == p for y, p, _ in rows),
        "micro_f1": f1(cells),
        "macro_f1": mean(map(f1, by_label)),
        "example_f1": mean(f1(list(zip(y, p))) for y, p, _ in rows),
        "example_jaccard": mean(
            ratio(sum(a and b for a, b in zip(y, p)), sum(a or b for a, b in zip(y, p))) for y, p, _ in rows
        ),
        "ranking_loss": mean(ranking_loss(y, s) for y, _, s in rows),
        "lrap": mean(ranking_precision(y, s) for y, _, s in rows),
        "coverage_sklearn": mean(coverage(y, s) for y, _, s in rows),
    }
    for k in case["k"]:
        result[f"precision_at_{k}"] = mean(precision_at(k, y, s) for y, _, s in rows)
    return {"case": case, "result": result}


def cases():
    """Ties in the scores, rows without and rows with every label, a label that is never there."""
    yield (
        "bnmc_metrics_ties",
        solve(
            {
                "kind": "metrics",
                "k": [1, 2, 4],
                "Y": [
                    [1, 0, 0, 1],
                    [0, 0, 0, 0],
                    [1, 1, 0, 1],
                    [0, 1, 0, 0],
                    [1, 1, 0, 0],
                    [1, 0, 0, 1],
                    [1, 1, 1, 1],
                    [0, 0, 0, 1],
                ],
                "pred": [
                    [1, 0, 0, 0],
                    [0, 0, 1, 0],
                    [1, 1, 0, 1],
                    [0, 0, 0, 0],
                    [1, 0, 0, 1],
                    [1, 0, 0, 1],
                    [0, 1, 0, 1],
                    [0, 1, 0, 1],
                ],
                "score": [
                    [0.7, 0.2, 0.2, 0.2],
                    [0.1, 0.3, 0.6, 0.3],
                    [0.9, 0.8, 0.1, 0.6],
                    [0.4, 0.4, 0.1, 0.2],
                    [0.9, 0.3, 0.3, 0.7],
                    [0.8, 0.5, 0.5, 0.5],
                    [0.3, 0.9, 0.2, 0.6],
                    [0.1, 0.7, 0.4, 0.55],
                ],
            }
        ),
    )

"""Small random tables of every family, for the reference cases of greedy trees."""

import random


def some_column(rng, family):
    def between(low, high):
        return round(rng.uniform(low, high), 3)

    if family == "beta_binomial":
        return {"family": family, "trials": rng.choice([2, 3, 5, 9]), "a": between(0.3, 1.5), "b": between(0.3, 1.5)}
    if family == "gaussian":
        return {
            "family": family,
            "m0": between(-1, 1),
            "k0": between(0.1, 1),
            "a0": between(1, 3),
            "b0": between(0.5, 2),
        }
    if family == "categorical":
        return {"family": family, "conc": [between(0.3, 1) for _ in range(rng.choice([2, 3, 4]))]}
    if family == "gamma_poisson":
        return {"family": family, "a": between(0.6, 2), "b": between(0.2, 1)}
    return {"family": family, "a": between(0.2, 1), "b": between(0.2, 1)}


def some_value(rng, column, group):
    """Rows of different groups differ, not always."""
    family = column["family"]
    share = (0.15, 0.85, 0.5)[group % 3]
    if family in ("beta_binomial", "beta_bernoulli"):
        return sum(rng.random() < share for _ in range(column.get("trials", 1)))
    if family == "gaussian":
        return round(rng.gauss((-1.5, 1.5, 4.0)[group % 3], 0.8), 3)
    if family == "categorical":
        return group % len(column["conc"]) if rng.random() < 0.8 else rng.randrange(len(column["conc"]))
    return sum(rng.random() < 0.3 for _ in range((4, 16, 30)[group % 3]))


def some_case(seed, rows, families, missing, two_views):
    rng = random.Random(seed)
    columns = [some_column(rng, family) for family in families]
    groups = [[rng.randrange(3) for _ in range(rows)] for _ in range(2)]
    views = [(j % 2 if two_views else 0) for j in range(len(columns))]

    def cells(column, view, share):
        return [None if rng.random() < share else some_value(rng, column, groups[view][i]) for i in range(rows)]

    by_column = [cells(column, view, missing) for column, view in zip(columns, views)]
    # A new column of a tree of views gets a tree of its own, in which rows without a cell tie with all others.
    share = 0.0 if two_views else missing
    new_rows = []
    for k in range(3):
        group = rng.randrange(3)
        x = [some_value(rng, column, group) for column in columns]
        for j in rng.sample(range(len(columns)), k):
            x[j] = None
        new_rows.append(x)
    new = some_column(rng, rng.choice(families))
    case = {
        "description": f"{rows} rows, {', '.join(families)}; seed {seed}",
        "alpha": round(rng.uniform(0.4, 1.6), 2),
        "columns": columns,
        "X": [list(row) for row in zip(*by_column)],
        "new_rows": new_rows,
        "new_columns": [
            {"column": new, "y": cells(new, 0, share)},
            {"column": columns[0], "y": cells(columns[0], 1, share)},
        ],
    }
    return case, rng


def some_shape(rng, items, blocks):
    if len(items) == 1:
        return items[0]
    if blocks and len(items) <= 3 and rng.random() < 0.4:
        return {"block": sorted(items)}
    cut = rng.randrange(1, len(items))
    return [some_shape(rng, items[:cut], blocks), some_shape(rng, items[cut:], blocks)]

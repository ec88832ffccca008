"""Writes tests/unit/run/diagnostics_reference.json: traces and what ArviZ 0.x says about them.

Run in an environment with `arviz<1`:  python tools/make_diagnostics_reference.py
The values are rounded before use, so that the text of the file is exactly what ArviZ saw.
"""

import json
import pathlib
import warnings

import numpy as np

warnings.simplefilter("ignore")
import arviz as az  # noqa: E402

rng = np.random.default_rng(20240611)


def autoregressive(chains, draws, coefficient):
    noise = rng.normal(size=(chains, draws))
    trace = np.empty_like(noise)
    trace[:, 0] = noise[:, 0]
    for i in range(1, draws):
        trace[:, i] = coefficient * trace[:, i - 1] + np.sqrt(1 - coefficient**2) * noise[:, i]
    return trace


def cases():
    yield "iid, 4 chains", rng.normal(size=(4, 250))
    yield "iid, odd length", rng.normal(size=(4, 151))
    yield "iid, 2 chains", rng.normal(size=(2, 200))
    yield "iid, 1 chain", rng.normal(size=(1, 200))
    yield "AR 0.7", autoregressive(4, 301, 0.7)
    yield "AR 0.995, many lags", autoregressive(2, 1500, 0.995)
    yield "AR -0.5, antithetic", autoregressive(4, 200, -0.5)
    yield "AR 0.9, 1 chain", autoregressive(1, 333, 0.9)
    yield "different means", rng.normal(size=(4, 200)) + np.array([[0.0], [0.0], [0.0], [1.5]])
    yield "different scales", rng.normal(size=(4, 200)) * np.array([[1.0], [1.0], [1.0], [4.0]])
    yield "trend", rng.normal(size=(3, 120)) + np.linspace(0, 2, 120)
    yield "heavy tails", rng.standard_cauchy(size=(4, 200))
    yield "large offset", autoregressive(4, 200, 0.5) * 3 - 123456.0
    counts = np.clip(np.round(6 + 1.5 * autoregressive(4, 300, 0.8)), 1, None)
    yield "cluster counts, many ties", counts
    yield "two values", (autoregressive(4, 200, 0.6) > 1.0).astype(float)
    yield "three values, odd, 2 chains", np.round(0.6 * autoregressive(2, 175, 0.5))
    yield "10 draws, 4 chains", rng.normal(size=(4, 10))
    yield "11 draws, 3 chains", rng.normal(size=(3, 11))
    yield "10 draws, 1 chain", rng.normal(size=(1, 10))
    yield "4 draws, 4 chains", rng.normal(size=(4, 4))
    yield "7 draws, counts", rng.poisson(4, size=(4, 7)).astype(float)


def describe(name, trace):
    trace = np.round(trace, 4)
    pooled = trace.ravel()
    expected = {
        "mean": pooled.mean(),
        "sd": pooled.std(ddof=1),
        "median": np.median(pooled),
        "q05": np.quantile(pooled, 0.05),
        "q95": np.quantile(pooled, 0.95),
        "rhat": az.rhat(trace, method="rank"),
        "ess_bulk": az.ess(trace, method="bulk"),
        "ess_tail": az.ess(trace, method="tail"),
        "ess_mean": az.ess(trace, method="mean"),
        "ess_sd": az.ess(trace, method="sd"),
        "ess_median": az.ess(trace, method="quantile", prob=0.5),
        "ess_q10": az.ess(trace, method="quantile", prob=0.1),
        "mcse_mean": az.mcse(trace, method="mean"),
        "mcse_sd": az.mcse(trace, method="sd"),
        "mcse_median": az.mcse(trace, method="quantile", prob=0.5),
        "mcse_q10": az.mcse(trace, method="quantile", prob=0.1),
    }
    expected = {key: None if np.isnan(value) else float(value) for key, value in expected.items()}
    return {"name": name, "chains": trace.tolist(), "expected": expected}


def main():
    target = pathlib.Path(__file__).parent.parent / "tests/unit/run/diagnostics_reference.json"
    reference = {"source": f"ArviZ {az.__version__}", "cases": [describe(*case) for case in cases()]}
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in reference["cases"])
    target.write_text(f'{{"source": "{reference["source"]}", "cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()

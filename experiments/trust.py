"""Can default fits be trusted, and how long does it take? Every table with the fixed length that used to be the default
(4 chains of 500 + 1,000 sweeps) and with a run until trusted: worst R-hat and its trace, effective draws per CPU second
of the trace that has the fewest, CPU seconds, draws, verdict. Nothing is chosen by labels.

usage: trust.py [--time-limit 60s] [--options 'FLAGS'] [--name NAME] [MODEL:TABLE ...]
--options are given to every fit: what is to be compared. Writes build/experiments/NAME.json (added to, table by table)
and prints Markdown."""

import argparse
import json
import math
import resource
import shlex
import tempfile

from shared import common

# table: (file, column of row names, column of known labels)
TABLES = {
    "galaxies": ("galaxies.csv", None, None),
    "faithful": ("faithful.csv", None, None),
    "iris": ("iris.csv", None, "label"),
    "zoo": ("zoo.csv", "name", "label"),
    "wine": ("wine.csv", None, "label"),
    "penguins": ("penguins.csv", None, "species"),
    "ecoli": ("uci_ecoli.csv", None, "label"),
    "housevotes84": ("housevotes84.csv", None, "label"),
    "animals33": ("animals33.csv", "name", "label"),
    "awa": ("awa50x85.csv", "name", None),
    "aggregation": ("aggregation.csv", None, "label"),
    "soybean": ("soybean.csv", None, "label"),
    "sonar": ("sonar.csv", None, "label"),
    "wdbc": ("uci_wdbc.csv", None, "label"),
    "statlog": ("uci_statlog.csv", None, "label"),
    "s1": ("s1.csv", None, "label"),
    "isolet300": ("isolet300.csv.gz", None, "label"),
    "fashion100": ("fashion100.csv", "name", "label"),
}
BOARD = (
    [f"nrmm:{name}" for name in TABLES]
    + [f"crosscat:{name}" for name in ("zoo", "penguins", "awa", "housevotes84")]
    + [f"rbhmc:{name}" for name in ("iris", "zoo", "penguins", "wine", "animals33", "fashion100", "isolet300")]
)
HEAD = "| model, table | length | sweeps | draws | worst R-hat | of | effective draws | per CPU second | CPU seconds | verdict |"


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(model, table, length, options):
    file, names, truth = TABLES[table]
    flags = [*(["--id", names] if names else []), *(["--truth", truth] if truth else []), *options, *length]
    with tempfile.TemporaryDirectory() as folder:
        run = f"{folder}/run.coppice"
        begin = cpu_seconds()
        common.coppice("fit", model, common.DATA / file, *flags, "-q", "-o", run)
        seconds = cpu_seconds() - begin
        found = common.coppice("diagnose", run, "--json", parse="json")
    traces = [trace for trace in found["traces"] if not trace["constant"]]
    known = [trace for trace in traces if trace["rhat"] is not None and math.isfinite(trace["rhat"])]
    worst = max(known, key=lambda trace: trace["rhat"], default=None)
    effective = min((min(trace["ess_bulk"], trace["ess_tail"]) for trace in known), default=math.nan)
    return {
        "sweeps": found["warmup"] + found["draws"] * found["thin"],
        "draws": found["draws"],
        "rhat": worst["rhat"] if worst else math.nan,
        "trace": worst["name"] if worst else "-",
        "effective": effective,
        "seconds": seconds,
        "trusted": found["trusted"],
        "verdict": found["verdict"],
    }


def line(name, length, found):
    return (
        f"| {name} | {length} | {found['sweeps']:,} | {found['draws']:,} | {found['rhat']:.3f} | {found['trace']} "
        f"| {found['effective']:.0f} | {found['effective'] / found['seconds']:.1f} | {found['seconds']:.1f} "
        f"| {'trusted' if found['trusted'] else 'not trusted'} |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--time-limit", default="60s")
    parser.add_argument("--options", default="")
    parser.add_argument("--name", default="trust")
    parser.add_argument("--only", choices=("fixed", "until trusted"))
    parser.add_argument("pairs", nargs="*", metavar="MODEL:TABLE")
    arguments = parser.parse_args()
    lengths = {
        "fixed": ("--until", "length"),
        "until trusted": ("--until", "trusted", "--time-limit", arguments.time_limit),
    }
    common.OUT.mkdir(parents=True, exist_ok=True)
    results = []
    print(HEAD, "|---" * (HEAD.count("|") - 1) + "|", sep="\n", flush=True)
    for pair in arguments.pairs or BOARD:
        model, _, table = pair.partition(":")
        for length, flags in lengths.items():
            if arguments.only not in (None, length):
                continue
            found = measure(model, table, flags, shlex.split(arguments.options))
            results.append({"model": model, "table": table, "length": length, **found})
            print(line(f"`{model}`, {table}", length, found), flush=True)
            (common.OUT / f"{arguments.name}.json").write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

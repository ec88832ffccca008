"""Earlier names of flags, words and hyper-parameters: understood, the same as the present ones, shown in the help."""

from conftest import blobs, write_table

SHORT = ["--chains", 1, "--warmup", 10, "--draws", 10]


def draws_of(coppice, *flags):
    coppice("fit", *flags, "-o", "r.coppice", "--overwrite")
    return coppice("export", "r.coppice", "--what", "trace").stdout


def test_earlier_forms_give_the_same_draws(coppice):
    write_table(coppice.folder / "data.csv", blobs(1, rows=24)[0])
    nested = ["rbhmc", "data.csv", "--penalty", 0.3, "--levels", 2, *SHORT]
    trees = ["bhc", "data.csv", "--family", "gaussian-diagonal"]
    for model, earlier, present in (
        (nested, ["--replicas", 2], ["--temperatures", "1,0.25,0"]),
        (nested, ["--learn-concentrations"], ["--learn", "alpha,gamma,gamma0"]),
        (nested, ["--regularizer", "centred"], ["--regularizer", "centered"]),  # words: ok
        (trees, ["--set", "share=0.5"], ["--set", "within_fraction=0.5"]),
    ):
        assert draws_of(coppice, *model, *earlier) == draws_of(coppice, *model, *present)
        assert draws_of(coppice, *model, *earlier) != draws_of(coppice, *model)


def test_a_configuration_file_may_use_them(coppice):
    write_table(coppice.folder / "data.csv", blobs(1, rows=24)[0])
    coppice.write("fit.toml", 'penalty = 0.3\nlevels = 2\nreplicas = 2\nregularizer = "centred"\n')  # words: ok
    flags = ["--penalty", 0.3, "--levels", 2, "--temperatures", "1,0.25,0", "--regularizer", "centered"]
    assert draws_of(coppice, "rbhmc", "data.csv", "--config", "fit.toml", *SHORT) == draws_of(
        coppice, "rbhmc", "data.csv", *flags, *SHORT
    )


def test_two_names_of_one_setting_exclude_each_other(coppice):
    write_table(coppice.folder / "data.csv", blobs(1, rows=24)[0])
    refused = coppice("fit", "rbhmc", "data.csv", "-o", "r.coppice", "--replicas", 2, "--temperatures", "1,0.5", code=2)
    assert "--replicas is an earlier form of --temperatures" in refused.stderr
    assert (
        "takes a whole number"
        in coppice("fit", "rbhmc", "data.csv", "-o", "r.coppice", "--replicas", 1.5, code=2).stderr
    )


def test_the_help_names_them(coppice):
    text = " ".join(coppice("fit", "rbhmc", "--help").stdout.split())
    assert "earlier form of --temperatures" in text and "earlier form of --learn" in text

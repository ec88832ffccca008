"""What is special to clusters of sub-clusters on the command line."""
from conftest import blobs

SHORT = ("--chains", 2, "--warmup", 20, "--draws", 30)


def write_blobs(coppice):
    points, _ = blobs(1)
    coppice.write("data.csv", "x,y\n" + "".join(f"{x},{y}\n" for x, y in points + 3.0))


def test_the_prior_mean_may_be_called_mean(coppice):
    write_blobs(coppice)
    labels = {}
    for name, flags in {"default": [], "called": ["--set", 'prior_mean="mean"'], "other": ["--set", "prior_mean=0"]}.items():
        coppice("fit", "nhcm", "data.csv", "-o", f"{name}.coppice", *SHORT, *flags)
        labels[name] = coppice("export", f"{name}.coppice", "--what", "labels").stdout
    assert labels["called"] == labels["default"] != labels["other"]
    refused = coppice("fit", "nhcm", "data.csv", "-o", "e.coppice", *SHORT, "--set", 'prior_mean="median"', code=78)
    assert "prior_mean" in refused.stderr

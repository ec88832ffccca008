"""The published protocol on the 33 animals of Kemp and Tenenbaum: seven principal components."""

from shared.published_protocol import Protocol

Protocol(
    "animals",
    "animals33.csv",
    [
        "--id",
        "name",
        "--pca",
        "7",
        "--family",
        "gaussian-known",
        "--set",
        "noise_variance=1",
        "--set",
        "prior_mean=0",
        "--set",
        "prior_variance=1",
        "--alpha",
        "0.4",
        "--gamma",
        "1",
        "--gamma0",
        "0.85",
    ],
    levels=3,
    penalties=[0.001, 0.01, 0.1, 1],
    margins=[0.1, 1, 10],
    shown=(0.1, 1),
).main()

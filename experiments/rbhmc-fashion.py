"""The published protocol on a hundred items of Fashion-MNIST: ten principal components."""

from shared.published_protocol import Protocol

PROTOCOL = Protocol(
    "fashion",
    "fashion100.csv",
    [
        "--id",
        "name",
        "--family",
        "gaussian-known",
        "--set",
        "noise_variance=1",
        "--set",
        "prior_mean=0",
        "--set",
        "prior_variance=1",
        "--alpha",
        "0.2",
        "--gamma",
        "1.5",
        "--gamma0",
        "0.85",
    ],
    levels=4,
    penalties=[0.0001, 0.001, 0.1, 1],
    margins=[0.01, 1],
    shown=(0.001, 1),
)


PROTOCOL.main()

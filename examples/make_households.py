#!/usr/bin/env python3
"""Writes examples/households.csv: 160 households of a survey, with two unrelated groupings and columns that follow neither.

    python examples/make_households.py [FILE]

Where a household lives (center, suburb, village) decides rent, area, cars, garden and the way to work. How it eats (meat,
mixed, plants) decides meat meals, vegetables, spending on food and where food is bought. Pets, the month of the move and hours
of television follow neither. A few cells are blank. The columns `place` and `diet` are the truth. The same file comes out
every time.
"""

import csv
import math
import pathlib
import random
import sys

# rent per square meter (mean, sd), area in square meters (mean, sd), cars (Poisson mean), chance of a garden, and the chances of
# going to work on foot, by train and by car
PLACES = {
    "center": ((17, 1.5), (62, 11), 0.2, 0.05, (0.60, 0.35, 0.05)),
    "suburb": ((12, 1.2), (88, 12), 1.1, 0.60, (0.10, 0.60, 0.30)),
    "village": ((8, 1.0), (124, 15), 2.2, 0.97, (0.05, 0.10, 0.85)),
}
# meat meals a week (Poisson mean), kilograms of vegetables a week (mean, sd), euros for food a week and person (mean, sd), and the
# chances of buying at a market, a supermarket and a discounter
DIETS = {
    "meat": (10.0, (1.6, 0.4), (52, 7), (0.05, 0.45, 0.50)),
    "mixed": (4.0, (3.0, 0.5), (64, 7), (0.25, 0.60, 0.15)),
    "plants": (0.15, (5.2, 0.8), (81, 9), (0.75, 0.20, 0.05)),
}
COLUMNS = ["rent_per_m2", "area_m2", "cars", "garden", "way_to_work", "meat_meals", "vegetables_kg", "euros_for_food"]
COLUMNS += ["shop", "pets", "month_of_move", "hours_of_television"]
BLANKS = 0.03


def poisson(draw, mean):
    """Knuth's method: the means here are small."""
    count, product, limit = 0, draw.random(), math.exp(-mean)
    while product > limit:
        count, product = count + 1, product * draw.random()
    return count


def household(draw, place, diet):
    """The cells in the order of COLUMNS."""
    rent, area, cars, garden, ways = PLACES[place]
    meat, vegetables, euros, shops = DIETS[diet]
    months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
    return [
        f"{draw.gauss(*rent):.2f}",
        f"{max(25.0, draw.gauss(*area)):.0f}",
        poisson(draw, cars),
        "yes" if draw.random() < garden else "no",
        draw.choices(["foot", "train", "car"], ways)[0],
        poisson(draw, meat),
        f"{max(0.2, draw.gauss(*vegetables)):.2f}",
        f"{draw.gauss(*euros):.2f}",
        draw.choices(["market", "supermarket", "discounter"], shops)[0],
        poisson(draw, 0.6),
        draw.choice(months),
        f"{max(0.0, draw.gauss(12, 4)):.1f}",
    ]


def main(path):
    draw = random.Random(5)
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["household", "place", "diet", *COLUMNS])
        for number in range(1, 161):
            place, diet = draw.choice(list(PLACES)), draw.choice(list(DIETS))
            cells = ["" if draw.random() < BLANKS else cell for cell in household(draw, place, diet)]
            table.writerow([f"h{number:03}", place, diet, *cells])


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).with_name("households.csv"))

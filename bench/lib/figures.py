"""Medians and effect sizes of runs, as a table and as JSON."""

import json
import statistics


def a12(ours, theirs) -> float:
    """How likely a run of ours has more than one of theirs; ties count half."""
    won = sum((a > b) + 0.5 * (a == b) for a in ours for b in theirs)
    return won / (len(ours) * len(theirs))


def show(title: str, results, names, arms, value: str) -> None:
    """Prints every value; effect sizes are those of the first arm against another."""
    print(f"{title}\n")
    print(f"{'target':<10}{'arm':<16}{'median':>8}{'A12':>7}  values")
    table = []
    for name in names:
        values = {arm: [one[value] for one in results if (one["target"], one["arm"]) == (name, arm)] for arm in arms}
        for arm in arms:
            if not values[arm]:
                continue
            effect = None if arm == arms[0] else a12(values[arms[0]], values[arm])
            median = statistics.median(values[arm])
            shown = "" if effect is None else f"{effect:.2f}"
            print(f"{name:<10}{arm:<16}{median:>8.0f}{shown:>7}  {' '.join(map(str, values[arm]))}")
            table.append({"target": name, "arm": arm, "median": median, "a12": effect, value: values[arm]})
    print(json.dumps({"table": table, "results": results}))

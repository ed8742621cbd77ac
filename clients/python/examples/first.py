"""A bot that takes the first legal decision."""

import flip7


def decide(view: flip7.View) -> flip7.Decision:
    return view.legal[0]


if __name__ == "__main__":
    flip7.run(decide)

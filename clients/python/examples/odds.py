"""A bot that hits as long as the next card is expected to bring more points than are at stake."""

import flip7


def decide(view: flip7.View) -> flip7.Decision:
    if view.kind != flip7.Kind.TURN:
        return view.legal[0]
    if view.expected_points(view.me) > view.mine.points:
        return view.hit()
    return view.stay()


if __name__ == "__main__":
    flip7.run(decide)

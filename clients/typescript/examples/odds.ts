// A bot that hits as long as the next card is expected to bring more points than are at stake.
import { run } from "@flip7-arena/kit";

run((view) => {
  if (view.kind !== "turn") return view.legal[0];
  return view.expectedPoints(view.me) > view.mine.points ? view.hit() : view.stay();
});

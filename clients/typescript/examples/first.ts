// A bot that takes the first legal decision.
import { run } from "@flip7-arena/kit";

run((view) => view.legal[0]);

/**
 * The kit for bots that play in a Flip 7 arena. A bot is one function: it is shown a View, which is all that anyone at
 * the table may know, and hands back a Decision.
 *
 *     import { run } from "@flip7-arena/kit";
 *
 *     run((view) => (view.kind === "turn" && view.bustProbability(view.me) > 0.2 ? view.stay() : view.legal[0]));
 *
 * `run` plays until it is interrupted. It finds the arena in FLIP7_ADDR and says who it is with FLIP7_TOKEN. A bot with
 * more to say about itself is a Bot, played by `run`, or by `play` inside a program that does other things too.
 *
 * The kit does the rest of the conversation with the arena (play_service.proto). It knows nothing of strategy and keeps
 * nothing about a game but what it has still to answer. Clauses such as (R18) are those of the rules page of the project.
 *
 * @module
 */
export { type Bot, type Decide, type Log, play, type PlayOptions, run } from "./bot.js";
export {
  type Action, type Card, cards, Counts, isAction, isModifier, isNumber, type Modifier, type NumberCard, points,
} from "./card.js";
export { type Answer, Decision } from "./decision.js";
export { EndError, WrongUseError } from "./end.js";
export { type Event, GameFinished, GameStarted, Verdict } from "./news.js";
export { type Assigned, type FlipThree, type Game, type Rules, type Seat, View } from "./view.js";
export type { Cause, EventKind, GameEnd, Kind, RoundEnd, Status, TieBreak, VerdictCode } from "./words.js";

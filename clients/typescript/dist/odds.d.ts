import { Counts } from "./card.js";
import type { Seat } from "./view.js";
/** See View.unseen. */
export declare function unseen(drawPile: Counts, discardPile: Counts): Counts;
/** See View.bustProbability. */
export declare function bustProbability(seat: Seat, unseen: Counts): number;
/** See View.expectedPoints. */
export declare function expectedPoints(seat: Seat, unseen: Counts): number;

// A bot in JavaScript: it hits as long as the next card is expected to bring points.
//
//   flip7 bridge -- node bot.mjs
import { createInterface } from "node:readline";

function decide(request) {
  if (request.kind !== "turn") return request.legal[0];
  return request.expected_points > request.points ? "hit" : "stay";
}

const say = (message) => process.stdout.write(JSON.stringify(message) + "\n");

say({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  if (request.type === "request") { // the rest is news, which wants no answer
    say({ id: request.id, decision: decide(request) });
  }
}

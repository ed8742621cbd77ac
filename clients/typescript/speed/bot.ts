// What `make bench` measures of TypeScript: the kit, and two floors beneath it, bare and socket. Ends when its input does.
import { connect } from "node:net";
import { Client, credentials } from "@grpc/grpc-js";
import { run } from "@flip7-arena/kit";
import { Answer } from "@flip7-arena/kit/wire/game";
import { type BotMessage, Decision, Hello, PlayRequest, PlayResponse } from "@flip7-arena/kit/wire/play_service";

const arena = process.env.FLIP7_ADDR!;

function kit(games: number): void {
  run({ decide: (view) => view.stay(), maxGames: games, maxOpen: games });
}

/** Decides a batch for each batch. */
function bare(): void {
  const call = new Client(arena, credentials.createInsecure()).makeBidiStreamRequest(
    "/flip7.v1.PlayService/Play",
    (value: PlayRequest) => Buffer.from(PlayRequest.encode(value).finish()),
    (bytes) => PlayResponse.decode(bytes),
  );
  const say = (...messages: BotMessage["message"][]) => call.write({ messages: messages.map((message) => ({ message })) });
  call.once("data", () => // the welcome
    call.on("data", (batch: PlayResponse) =>
      say(...batch.messages.map(({ message }) => {
        const requestId = message?.$case === "request" ? message.value.requestId : "";
        return { $case: "decision" as const, value: { requestId, answer: Answer.STAY, note: "" } };
      }))));
  say({ $case: "hello", value: Hello.fromPartial({ protocol: 1 }) });
}

/** Takes so many bytes for a request, and as many as it is told for a decision. */
function socket(request: number, decision: number): void {
  const at = arena.lastIndexOf(":");
  const link = connect({ host: arena.slice(0, at), port: Number(arena.slice(at + 1)), noDelay: true });
  let have = 0;
  link.on("data", (heard) => {
    have += heard.length;
    const decided = Math.floor(have / request);
    have %= request;
    link.write(Buffer.alloc(decided * decision));
  });
}

process.stdin.on("end", () => process.exit()).resume();
const [kind, ...numbers] = process.argv.slice(2);
const [first = 0, second = 0] = numbers.map(Number);
if (kind === "kit") kit(first);
else if (kind === "bare") bare();
else socket(first, second);

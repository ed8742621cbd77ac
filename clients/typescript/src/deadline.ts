/**
 * How long a decision is of use. Most bots never ask, so that signal and timer are made for the first who does.
 * @internal
 */
export class Deadline {
  #controller: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #over: string | undefined;

  /** @param at when the time is up, as `now` counts */
  constructor(readonly at: number) {}

  get left(): number {
    return this.at - now();
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#over !== undefined) {
        this.#controller.abort(new Error(this.#over));
      } else {
        this.#timer = setTimeout(() => this.end("time is up"), Math.max(this.left, 0));
        this.#timer.unref();
      }
    }
    return this.#controller.signal;
  }

  /** Says that nothing depends on the decision any more. */
  end(why: string): void {
    if (this.#over !== undefined) return;
    this.#over = why;
    clearTimeout(this.#timer);
    this.#controller?.abort(new Error(why));
  }
}

const { timeOrigin } = performance;

/**
 * Milliseconds on a clock that runs evenly and is the same in all threads of the process.
 * @internal
 */
export function now(): number {
  return timeOrigin + performance.now();
}

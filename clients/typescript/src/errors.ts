import { explain, type Advice } from "./advice.js";
import type { Decision } from "./decision.js";

/** The base of all errors of this package. */
export class SluiceError extends Error {
  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}

/** Sluice did not answer in time, or not as Sluice does. check() never rejects with it: its fail mode decides. */
export class Unavailable extends SluiceError {}

/** Sluice refused the call itself: the program or its configuration is wrong, and a retry does not help. */
export class CallError extends SluiceError {
  constructor(readonly status: number, readonly code: string | null, readonly detail: string) {
    super(`Sluice refused the call: ${status} ${code ?? ""}: ${detail}`);
  }
}

/** The request may not pass now. `decision` says why and when it may. */
export class Denied extends SluiceError {
  constructor(readonly decision: Decision) {
    super(decision.why);
  }
}

/** A request was not sent, because its quota is used up for longer than the caller waits. */
export class Throttled extends SluiceError {
  constructor(readonly resource: string, readonly ms: number, readonly advice: Advice, limit: string) {
    super(`not sent: ${resource} is held for ${(ms / 1000).toFixed(3)} s, longer than the ${limit} allows (${explain(advice)})`);
  }
}

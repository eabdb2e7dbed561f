import type { Client } from "./client.js";
import type { Decision, HoldToken, Settled } from "./decision.js";
import { CallError, Unavailable } from "./errors.js";

/** An estimate that is charged. If settle() is never called, it stays charged. */
export class Reservation {
  private settled: Settled[] | null = null;

  constructor(private readonly client: Client, readonly decision: Decision) {}

  /** Charges the actual cost instead. A daemon that does not answer leaves the estimate charged. Only the first call counts. */
  async settle(cost: number | Record<string, number>): Promise<Settled[]> {
    const reservation = this.decision.reservation;
    if (reservation === null) return [];
    try {
      this.settled ??= await this.client.settle(reservation, cost);
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
    }
    return this.settled ?? [];
  }
}

/** Slots that are renewed until release(). */
export class Hold {
  readonly tokens: HoldToken[];
  /** The daemon says that they have expired or were reset: others may have the slots by then. */
  lost = false;
  renewals = 0;
  private readonly stop = new AbortController();

  constructor(private readonly client: Client, readonly decision: Decision, renewEveryMs: number) {
    this.tokens = decision.holds;
    if (this.tokens.length) void this.renew(renewEveryMs);
  }

  /** Frees the slots. If the daemon does not answer, they are freed by the rule's hold_ttl. */
  async release(): Promise<void> {
    if (this.stop.signal.aborted) return;
    this.stop.abort();
    await this.client.releaseQuietly(this.decision);
  }

  private async renew(everyMs: number): Promise<void> {
    for (;;) {
      try {
        await this.client.clock.sleep(everyMs, this.stop.signal);
      } catch {
        return; // Released.
      }
      try {
        await this.client.renew(this.tokens);
        this.renewals++;
      } catch (error) {
        if (error instanceof CallError) {
          this.lost = true;
          return;
        }
      }
    }
  }
}

import { systemClock, type Clock, type Log } from "./clock.js";

/**
 * A circuit breaker: a daemon that does not answer costs few requests their timeout, not all of them.
 *
 * Opens after `failures` failed calls in a row; then only one call each `retryEveryMs` is tried. While it is open, checks are
 * answered at once by the client's fail mode. One success closes it. The time is extended at random by up to a half, so that
 * many clients do not try in step.
 */
export class Breaker {
  private failed = 0;
  private retryAt = 0;

  constructor(
    private readonly failures = 3,
    private readonly retryEveryMs = 1000,
    private readonly clock: Clock = systemClock,
    private readonly log: Log = console,
  ) {
    if (failures < 1 || retryEveryMs <= 0) throw new RangeError("breaker: failures is at least 1, and retryEveryMs above 0");
  }

  get open(): boolean {
    return this.failed >= this.failures;
  }

  /** Whether a call may be made now. If it is, tell the breaker how it ended. */
  allows(): boolean {
    if (!this.open) return true;
    if (this.clock.monotonic() < this.retryAt) return false;
    this.wait(); // This caller tries. The others go on without.
    return true;
  }

  /** Until the next call may be made; 0 if one may be made now. */
  retryInMs(): number {
    return this.open ? Math.max(0, this.retryAt - this.clock.monotonic()) : 0;
  }

  onSuccess(): void {
    if (this.open) this.log.info("Sluice answers again");
    this.failed = 0;
  }

  onFailure(error: Error): void {
    this.failed++;
    if (this.open) this.wait();
    if (this.failed === this.failures) {
      this.log.warn(`Sluice does not answer (${error.message}): requests are decided without it`);
    }
  }

  private wait(): void {
    this.retryAt = this.clock.monotonic() + this.retryEveryMs * (1 + this.clock.random() / 2);
  }
}

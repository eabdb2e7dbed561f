package sluice.client;

import java.time.Duration;

/**
 * Opens after so many failed calls in a row; then only one call at a time is tried, so that a daemon that does not answer costs few
 * requests their timeout. One success closes it. Safe from any thread.
 */
final class Breaker {
  private final int most;
  private final long retryEveryNanos;
  private final Clock clock;
  private volatile int failures;
  private long retryAt;

  Breaker(int failures, Duration retryEvery, Clock clock) {
    if (failures < 1 || retryEvery.isNegative() || retryEvery.isZero()) {
      throw new IllegalArgumentException("breaker: failures is at least 1, and retryEvery above 0");
    }
    this.most = failures;
    this.retryEveryNanos = retryEvery.toNanos();
    this.clock = clock;
  }

  boolean isOpen() {
    return failures >= most;
  }

  /** Whether a call may be made now. If it is made, succeeded() or failed() must follow. */
  boolean allows() {
    return !isOpen() || tries();
  }

  private synchronized boolean tries() {
    if (!isOpen()) {
      return true;
    }
    if (clock.nanos() - retryAt < 0) {
      return false;
    }
    postpone(); // This caller tries. The others go on without.
    return true;
  }

  /** Until the next call may be made; zero if one may be made now. */
  synchronized Duration retryIn() {
    return isOpen() ? Duration.ofNanos(Math.max(0, retryAt - clock.nanos())) : Duration.ZERO;
  }

  void succeeded() {
    if (failures != 0) { // Written only if it changes: all threads read it.
      synchronized (this) {
        failures = 0;
      }
    }
  }

  synchronized void failed() {
    failures = Math.min(failures + 1, most);
    if (isOpen()) {
      postpone();
    }
  }

  private void postpone() { // Extended at random, so that many clients do not try in step.
    retryAt = clock.nanos() + (long) (retryEveryNanos * (1 + clock.random() / 2));
  }
}

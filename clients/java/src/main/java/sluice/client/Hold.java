package sluice.client;

import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** Slots of concurrency rules, which a daemon thread renews until they are closed. Safe from any thread. */
public final class Hold implements AutoCloseable {
  private final SluiceClient client;
  private final Decision decision;
  private final AtomicBoolean closed = new AtomicBoolean();
  private volatile boolean lost;
  private volatile int renewals;
  private final ScheduledFuture<?> renewing; // Null without slots.

  Hold(SluiceClient client, Decision decision, Duration renewEvery) {
    this.client = client;
    this.decision = decision;
    final long every = Math.max(1, renewEvery.toMillis());
    this.renewing = decision.holds().isEmpty() ? null
        : Background.RENEWALS.scheduleWithFixedDelay(this::renew, every, every, TimeUnit.MILLISECONDS);
  }

  /** What Sluice decided. */
  public Decision decision() {
    return decision;
  }

  /** The slots expired or were reset: others may have them now. */
  public boolean isLost() {
    return lost;
  }

  int renewals() {
    return renewals;
  }

  private void renew() {
    if (closed.get() || lost) {
      return;
    }
    try {
      client.renew(decision.holds());
      ++renewals;
    } catch (CallException gone) {
      lost = !closed.get();
      throw gone; // Ends the renewals.
    } catch (UnavailableException away) { // Until the slots expire, the next time may do.
    }
  }

  /** Frees the slots now. Never throws: if the daemon does not answer, they are freed by the rule's {@code hold_ttl}. */
  @Override
  public void close() {
    if (renewing == null || closed.getAndSet(true)) {
      return;
    }
    renewing.cancel(false);
    try {
      client.release(decision.holds());
    } catch (SluiceException away) { // They expire.
    }
  }
}

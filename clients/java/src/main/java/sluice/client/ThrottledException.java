package sluice.client;

import java.io.IOException;
import java.time.Duration;

/** A request was not sent, because its quota is used up for longer than the caller waits. */
public final class ThrottledException extends IOException {
  private static final long serialVersionUID = 1;

  private final Duration wait;
  private final transient Advice advice;

  ThrottledException(String resource, Duration wait, Advice advice, String bound) {
    super("not sent: " + resource + " is held for " + wait.toMillis() + " ms, longer than the " + bound + " allows (" + advice + ")");
    this.wait = wait;
    this.advice = advice;
  }

  /** Until the quota is available again. */
  public Duration retryAfter() {
    return wait;
  }

  /** What an earlier response said. */
  public Advice advice() {
    return advice;
  }
}

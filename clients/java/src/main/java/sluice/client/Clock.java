package sluice.client;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** Time and chance, which tests replace. */
class Clock {
  static final Clock SYSTEM = new Clock();

  /** Monotonic. */
  long nanos() {
    return System.nanoTime();
  }

  long wallMs() {
    return System.currentTimeMillis();
  }

  void sleep(Duration time) throws InterruptedException {
    Thread.sleep(time.toMillis());
  }

  /** From 0 to 1. */
  double random() {
    return ThreadLocalRandom.current().nextDouble();
  }
}

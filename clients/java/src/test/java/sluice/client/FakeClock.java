package sluice.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Advances when somebody sleeps, and says who slept how long. */
final class FakeClock extends Clock {
  final List<Long> slept = new ArrayList<>();
  private long now = 1_000_000_000L;

  @Override
  synchronized long nanos() {
    return now;
  }

  @Override
  synchronized long wallMs() {
    return 1_795_953_600_000L + now / 1_000_000;
  }

  @Override
  synchronized void sleep(Duration time) {
    slept.add(time.toMillis());
    now += time.toNanos();
  }

  @Override
  double random() {
    return 0;
  }
}

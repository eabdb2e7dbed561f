package sluice.client;

import java.lang.management.ManagementFactory;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** What a check costs the caller in CPU, beside a socket that sends and receives the same bytes: the best of seven rounds of each in turn. */
final class Cost {
  private static final int ROUNDS = 7;

  private Cost() {}

  private record Work(String name, int each, Checks.Step step) {}

  /** {@code [CHECKS]}: of each round. */
  public static void main(String[] arguments) throws Exception {
    final int count = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 5000;
    final var cpu = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    try (Daemon daemon = new Daemon("rules:\n  - {id: api, match: {endpoint: /charges}, key_pattern: \"user:{user_id}\","
        + " algorithm: token_bucket, rate: 1000000, window: 1s, burst: 1000000}\n")) {
      final Map<String, ?> user = Map.of("user_id", "u_42", "endpoint", "/charges", "ip", "10.0.0.1");
      final SluiceClient quick = SluiceClient.builder().url(daemon.url).timeout(Duration.ofSeconds(10)).retries(0).failClosed().build();
      final SluiceClient keyed = SluiceClient.builder().url(daemon.url).timeout(Duration.ofSeconds(10)).failClosed().build();
      final StringBuilder body = new StringBuilder();
      Wire.appendCheck(user, CheckOptions.DEFAULT, body);
      final byte[] request = ("POST /v1/ratelimit/check HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: "
          + body.length() + "\r\n\r\n" + body).getBytes(StandardCharsets.US_ASCII);
      final URI uri = URI.create(daemon.url);
      final Socket[] bare = new Socket[1];
      final byte[] into = new byte[65_536];
      final List<BatchedCheck> batch = Collections.nCopies(100, new BatchedCheck(user));
      final List<Work> works = List.of(
          new Work("the same bytes over a Socket", 1, () -> {
            if (bare[0] == null) {
              bare[0] = new Socket(uri.getHost(), uri.getPort());
              bare[0].setTcpNoDelay(true);
            }
            bare[0].getOutputStream().write(request);
            if (bare[0].getInputStream().read(into) <= 0) {
              throw new IllegalStateException("closed");
            }
          }),
          new Work("check()", 1, () -> require(quick.check(user))),
          new Work("check() with an idempotency key", 1, () -> require(keyed.check(user))),
          new Work("checkMany(), 100 at once", 100, () -> quick.checkMany(batch).forEach(Cost::require)));
      final double[] best = new double[works.size()];
      java.util.Arrays.fill(best, Double.MAX_VALUE);
      for (int round = 0; round < ROUNDS; ++round) { // The first ones also compile.
        if (bare[0] != null) {
          bare[0].close(); // The daemon closes it while the others are measured.
          bare[0] = null;
        }
        for (int i = 0; i < works.size(); ++i) {
          final long begin = cpu.getProcessCpuTime();
          for (int k = 0; k < count; k += works.get(i).each) {
            works.get(i).step.run();
          }
          best[i] = Math.min(best[i], (cpu.getProcessCpuTime() - begin) / 1000.0 / count);
        }
      }
      for (int i = 0; i < works.size(); ++i) {
        System.out.printf("%-52s %6.1f us a check, beyond the bytes alone %6.1f us%n", works.get(i).name, best[i], best[i] - best[0]);
      }
    }
  }

  private static void require(Decision decision) {
    if (!decision.allowed()) {
      throw new IllegalStateException(decision.why());
    }
  }
}

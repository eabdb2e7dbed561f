package sluice.client;

import java.time.Duration;
import java.util.Locale;

/**
 * What to do with a response.
 *
 * @param action what to do
 * @param reason {@code ok}, {@code used_up}, {@code server}, {@code backoff}, {@code never}, {@code attempts}, {@code unsafe}, {@code
 *     cap} or {@code deadline}
 * @param source what the time was read from, such as {@code retry-after}; null if no time was
 * @param earliest for WAIT: when to send it again, at the earliest; else zero
 * @param latest for WAIT: at the latest; else zero
 * @param hold how long other requests to the same bucket must not be sent
 * @param bucket the name that the server gives to the bucket; null if none
 * @param everywhere whether {@code hold} counts for the whole host
 * @param left of the quota with the least units, if it states a reset; else null
 */
public record Advice(Action action, String reason, String source, Duration earliest, Duration latest, Duration hold, String bucket,
    boolean everywhere, Left left) {
  /** No limit refused it; send it again later; hand it to the caller. */
  public enum Action { PROCEED, WAIT, GIVE_UP }

  /**
   * What is left of a quota.
   *
   * @param units that remain
   * @param reset until more is available
   */
  public record Left(long units, Duration reset) {}

  /** The wait for a random number from 0 to 1. */
  public Duration delay(double random) {
    return earliest.plusMillis((long) (latest.minus(earliest).toMillis() * random));
  }

  /** In a sentence, for logs. */
  @Override
  public String toString() {
    final String stated = source + " says " + String.format(Locale.ROOT, "%.3f s", hold.toMillis() / 1000.0);
    return switch (reason) {
      case "ok" -> "no limit";
      case "used_up" -> "the quota is used up: " + stated;
      case "server" -> "refused by a limit: " + stated;
      case "backoff" -> "refused by a limit that states no time: backing off";
      case "never" -> "refused by a limit, and waiting does not help";
      case "attempts" -> "refused by a limit, and this was the last attempt";
      case "unsafe" -> "503, and the request may have been processed: it has no idempotency key";
      case "cap" -> "refused by a limit: " + stated + ", more than the cap";
      default -> "refused by a limit: " + stated + ", more than the deadline leaves";
    };
  }
}

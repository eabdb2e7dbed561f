package sluice.client;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Collectors;

/**
 * Whether a request may pass.
 *
 * @param allowed the decision itself
 * @param status what to answer to your own caller: 200, 429, 403 or 503
 * @param reason of a denial, as in docs/http-api.md; {@code sluice_unavailable} if degraded; "" if allowed
 * @param remaining units that would be granted now
 * @param resetAt Unix seconds at which the full limit is back
 * @param retryAfter exact; empty if allowed, or if waiting does not help
 * @param delay allowed, but only after so long ({@code shape: true}); else zero
 * @param limits the rules that applied, in their order
 * @param holds slots of concurrency rules that the request has now
 * @param receipt for {@link SluiceClient#refund}; "" if none was asked for
 * @param reservation for {@link SluiceClient#settle}; "" if none was asked for
 * @param headers Retry-After and the rate limit fields, to pass on to your own caller
 * @param unavailable why Sluice did not answer, so that the fail mode decided; null if it did answer
 */
public record Decision(boolean allowed, int status, String reason, OptionalLong remaining, OptionalLong resetAt,
    Optional<Duration> retryAfter, Duration delay, List<Limit> limits, List<HoldToken> holds, String receipt, String reservation,
    List<Map.Entry<String, String>> headers, String unavailable) {

  /** Whether Sluice did not answer, and the fail mode decided. */
  public boolean degraded() {
    return unavailable != null;
  }

  /** The first enforced rule that denied; empty if none did. */
  public Optional<Limit> deniedBy() {
    return limits.stream().filter(each -> !each.allowed() && !each.shadow()).findFirst();
  }

  /** The decision in a sentence, for logs. */
  public String why() {
    if (degraded()) {
      return (allowed ? "allowed" : "denied") + " without Sluice: " + unavailable;
    }
    if (allowed) {
      return limits.isEmpty() ? "allowed: no rule applies"
          : "allowed by " + limits.stream().map(Limit::name).collect(Collectors.joining(", "));
    }
    final String when = retryAfter.map(wait -> String.format(Locale.ROOT, "again in %.3f s", wait.toMillis() / 1000.0))
        .orElse("waiting does not help");
    return "denied by " + deniedBy().map(Limit::name).orElse("?") + ": " + reason + "; " + when;
  }

  /** What Advise reads of a denial by Sluice; of the fail mode's, it reads the field. */
  Answer answer() {
    final String body = degraded() ? ""
        : "{\"allowed\":false,\"limits\":[]" + retryAfter.map(wait -> ",\"retry_after_ms\":" + wait.toMillis()).orElse("") + "}";
    return new Answer(status, headers, body);
  }
}

package sluice.client;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * What to do with a response of any server that limits rates. Every client of Sluice does the same: the tests play clients/vectors/. Keeps
 * no state: safe from any thread.
 */
public final class Advise {
  private static final long DAY_MS = 24 * 3_600_000L;
  private static final long SECONDARY_MS = 60_000; // GitHub's, which states no time.
  private static final Set<String> IDEMPOTENT = Set.of("GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE");

  private final int status;
  private final Fields fields;
  private final long nowMs;
  private final long serverNowMs;
  private final Map<?, ?> body;
  private long statedMs;
  private String source;

  private Advise(Answer answer, long nowMs) {
    this.status = answer.status();
    this.fields = new Fields(answer.fields());
    this.nowMs = nowMs;
    final long date = Times.httpDateMs(fields.get("date"), nowMs);
    this.serverNowMs = date == Times.NONE ? nowMs : date;
    this.body = status == 403 || status == 429 || status == 503 ? Json.readObject(answer.body()) : Map.of();
  }

  /** Never throws for what the response holds. */
  public static Advice of(Answer answer, Caller caller, Policy policy) {
    return new Advise(answer, caller.nowMs()).advice(caller, policy);
  }

  private Advice advice(Caller caller, Policy policy) {
    final boolean isSluice = Boolean.FALSE.equals(body.get("allowed")) && body.get("limits") instanceof List<?>;
    final boolean secondary = (status == 403 || status == 429)
        && Json.text(body, "message").toLowerCase(Locale.ROOT).contains("secondary rate limit");
    readStated(isSluice);
    boolean refused = status == 429 || status == 529 || ((status == 403 || status == 503) && statedMs > 0) || secondary || isSluice;
    final Quotas.Family family = Quotas.of(fields, refused, serverNowMs, nowMs);
    if (status == 403 && family.name().equals("x-ratelimit") && family.resetMs(0) != 0 && family.quotas().get(0).remaining() == 0) {
      refused = true; // GitHub's primary limit.
    }
    final String named = fields.get("x-ratelimit-bucket").isEmpty() ? fields.get("x-ratelimit-resource") : fields.get("x-ratelimit-bucket");
    final String bucket = named.isEmpty() ? null : named;
    final Advice.Left left = leastOf(family);
    final Duration zero = Duration.ZERO;
    if (!refused) {
      final long holdMs = Math.min(family.resetMs(policy.headroom()), DAY_MS);
      return new Advice(Advice.Action.PROCEED, holdMs != 0 ? "used_up" : "ok", holdMs != 0 ? family.name() : null, zero, zero,
          Duration.ofMillis(holdMs), bucket, false, left);
    }
    final boolean spentForGood = body.get("error") instanceof Map<?, ?> error && Json.text(error, "code").equals("insufficient_quota");
    if (fields.get("x-should-retry").equals("false") || spentForGood || (isSluice && statedMs == 0)) {
      return new Advice(Advice.Action.GIVE_UP, "never", null, zero, zero, zero, bucket, false, left);
    }
    final boolean everywhere = secondary || fields.get("x-ratelimit-global").equals("true")
        || fields.get("x-ratelimit-scope").equals("global");
    if (statedMs == 0) {
      statedMs = family.resetMs(0);
      source = family.name();
    }
    if (statedMs == 0) {
      statedMs = backoffMs(caller.attempt(), policy, secondary ? SECONDARY_MS : 0);
      source = "backoff";
    }
    final Duration hold = Duration.ofMillis(Math.min(statedMs, DAY_MS));
    final String whyNot = whyNot(caller, policy);
    if (whyNot != null) {
      return new Advice(Advice.Action.GIVE_UP, whyNot, source, zero, zero, hold, bucket, everywhere, left);
    }
    long latestMs = statedMs + (long) (statedMs * policy.jitter());
    latestMs = caller.left() == null ? latestMs : Math.min(latestMs, caller.left().toMillis());
    return new Advice(Advice.Action.WAIT, source.equals("backoff") ? "backoff" : "server", source, Duration.ofMillis(statedMs),
        Duration.ofMillis(latestMs), hold, bucket, everywhere, left);
  }

  /** The time that the server states for this request. */
  private void readStated(boolean isSluice) {
    final Long exact = Json.whole(body, "retry_after_ms");
    if (isSluice && exact != null && exact > 0) {
      statedMs = exact;
      source = "retry_after_ms";
      return;
    }
    final long fieldMs = Times.decimalMs(fields.get("retry-after-ms"), 1);
    if (fieldMs > 0) {
      statedMs = fieldMs;
      source = "retry-after-ms";
      return;
    }
    final String text = fields.get("retry-after");
    long after = Times.decimalMs(text, 1000);
    if (after == Times.NONE) {
      final long at = Times.httpDateMs(text, nowMs);
      after = at == Times.NONE ? 0 : at - serverNowMs;
    }
    if (after > 0) {
      statedMs = after;
      source = "retry-after";
    }
  }

  private static Advice.Left leastOf(Quotas.Family family) {
    Advice.Left least = null;
    for (final Quotas.Quota quota : family.quotas()) {
      final Duration reset = Duration.ofMillis(Math.min(quota.resetMs(), DAY_MS));
      if (quota.resetMs() != 0 && (least == null || quota.remaining() < least.units()
          || (quota.remaining() == least.units() && reset.compareTo(least.reset()) < 0))) {
        least = new Advice.Left(quota.remaining(), reset);
      }
    }
    return least;
  }

  private static long backoffMs(int attempt, Policy policy, long floorMs) {
    final long mostMs = Math.max(policy.cap().toMillis(), floorMs);
    long waitMs = Math.min(Math.max(policy.base().toMillis(), floorMs), mostMs);
    for (int i = 1; i < attempt && waitMs < mostMs; ++i) {
      waitMs = Math.min(waitMs * 2, mostMs);
    }
    return waitMs;
  }

  /** Why the client gives up; null if it waits. */
  private String whyNot(Caller caller, Policy policy) {
    final boolean repeatable = caller.idempotencyKey() || IDEMPOTENT.contains(caller.method().toUpperCase(Locale.ROOT));
    if (caller.attempt() >= policy.maxAttempts()) {
      return "attempts";
    }
    if (status == 503 && !repeatable) {
      return "unsafe";
    }
    if (statedMs > policy.cap().toMillis()) {
      return "cap";
    }
    return caller.left() != null && statedMs >= caller.left().toMillis() ? "deadline" : null;
  }
}

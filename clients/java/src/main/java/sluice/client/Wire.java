package sluice.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** The texts that a call sends, and what its response means. No I/O. */
final class Wire {
  private Wire() {}

  /** Throws IllegalArgumentException: a line break in a field's value would begin another field. */
  static void checkFieldText(String what, String text) {
    for (int i = 0; i < text.length(); ++i) {
      if (text.charAt(i) < ' ' || text.charAt(i) > '~') {
        throw new IllegalArgumentException(what + ": it has a character that HTTP does not allow");
      }
    }
  }

  static void appendCheck(Map<String, ?> attributes, CheckOptions options, StringBuilder out) {
    out.append("{\"attributes\":{");
    boolean first = true;
    for (final Map.Entry<String, ?> attribute : attributes.entrySet()) {
      if (!first) {
        out.append(',');
      }
      first = false;
      Json.appendText(attribute.getKey(), out);
      out.append(':');
      Json.appendValue(attribute.getKey(), attribute.getValue(), out);
    }
    out.append("},\"cost\":").append(options.cost());
    out.append(options.peek() ? ",\"peek\":true" : "").append(options.waits() ? ",\"wait\":true" : "");
    out.append(options.reserve() ? ",\"reserve\":true" : "").append(options.receipt() ? ",\"receipt\":true" : "").append('}');
  }

  /** Without a decision in it: a proxy's answer, or that of a daemon that shuts down. */
  static boolean isNotOurs(int status) {
    return status == 408 || status == 429 || status == 502 || status == 503 || status == 504;
  }

  private static SluiceException errorOf(int status, Map<?, ?> problem) {
    final String detail = Json.text(problem, "detail");
    return isNotOurs(status) || status == 500 || status == 200 ? new UnavailableException("status " + status + ": " + detail)
        : new CallException(status, Json.text(problem, "code"), detail);
  }

  private static OptionalLong whole(Map<?, ?> of, String name) {
    final Long value = Json.whole(of, name);
    return value == null ? OptionalLong.empty() : OptionalLong.of(value);
  }

  private static Optional<Duration> retryAfter(Map<?, ?> of) {
    return Optional.ofNullable(Json.whole(of, "retry_after_ms")).map(Duration::ofMillis);
  }

  static Decision decisionOf(int status, Map<?, ?> answer, List<Map.Entry<String, String>> fields) {
    if (!(answer.get("allowed") instanceof Boolean allowed)) {
      throw errorOf(status, answer);
    }
    final List<Limit> limits = new ArrayList<>();
    String reason = "";
    for (final Map<?, ?> item : Json.objects(answer, "limits")) {
      final Limit limit = new Limit(Json.text(item, "name"), Json.isTrue(item, "allowed"), whole(item, "limit"), whole(item, "remaining"),
          whole(item, "reset_at"), Json.text(item, "reason"), retryAfter(item), Json.isTrue(item, "shadow"), Json.isTrue(item, "degraded"));
      limits.add(limit);
      if (!allowed && reason.isEmpty() && !limit.allowed() && !limit.shadow()) {
        reason = limit.reason();
      }
    }
    final List<HoldToken> holds = new ArrayList<>();
    for (final Map<?, ?> item : Json.objects(answer, "holds")) {
      holds.add(new HoldToken(Json.text(item, "name"), Json.text(item, "id")));
    }
    final List<Map.Entry<String, String>> headers = new ArrayList<>();
    for (final Map.Entry<String, String> field : fields) {
      final String name = field.getKey().toLowerCase(Locale.ROOT);
      if (name.equals("retry-after") || name.equals("ratelimit") || name.equals("ratelimit-policy") || name.startsWith("x-ratelimit-")) {
        headers.add(field);
      }
    }
    final long delayMs = Json.isTrue(answer, "waited") ? 0 : whole(answer, "wait_ms").orElse(0);
    return new Decision(allowed, status, reason, whole(answer, "remaining"), whole(answer, "reset_at"),
        allowed ? Optional.empty() : retryAfter(answer), Duration.ofMillis(delayMs), List.copyOf(limits), List.copyOf(holds),
        Json.text(answer, "receipt"), Json.text(answer, "reservation"), List.copyOf(headers), null);
  }

  static Decision decisionOf(Connection.Response response) {
    return decisionOf(response.status(), Json.readObject(response.body()), response.fields());
  }

  /** The answer of a call that is not a check. */
  static Object answerOf(Connection.Response response) {
    if (response.status() != 200) {
      throw errorOf(response.status(), Json.readObject(response.body()));
    }
    try {
      return Json.read(response.body());
    } catch (IllegalArgumentException malformed) {
      throw new UnavailableException("the response has no JSON", malformed);
    }
  }

  static Map<?, ?> objectOf(Connection.Response response) {
    if (answerOf(response) instanceof Map<?, ?> members) {
      return members;
    }
    throw new UnavailableException("the response is not an object");
  }

  static void appendHolds(List<HoldToken> holds, StringBuilder out) {
    out.append("{\"holds\":[");
    String before = "{\"name\":";
    for (final HoldToken hold : holds) {
      out.append(before);
      Json.appendText(hold.name(), out);
      out.append(",\"id\":");
      Json.appendText(hold.id(), out);
      out.append('}');
      before = ",{\"name\":";
    }
    out.append("]}");
  }
}

package sluice.client;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What header fields say about quotas. The rules are those of clients/vectors/README.md. */
final class Quotas {
  private static final String LOWER = "abcdefghijklmnopqrstuvwxyz";
  private static final String TOKEN_START = "*ABCDEFGHIJKLMNOPQRSTUVWXYZ" + LOWER;
  private static final String TOKEN = "!#$%&'+.^_`|~0123456789:/-" + TOKEN_START;

  // Family, remaining, reset, and the reset that counts if that one is not readable.
  private static final String[][] FAMILIES = {
    {"ratelimit-fields", "ratelimit-remaining", "ratelimit-reset", ""},
    {"anthropic", "anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset", ""},
    {"anthropic", "anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset", ""},
    {"anthropic", "anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset", ""},
    {"anthropic", "anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset", ""},
    {"openai", "x-ratelimit-remaining-requests", "x-ratelimit-reset-requests", ""},
    {"openai", "x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens", ""},
    {"x-ratelimit", "x-ratelimit-remaining", "x-ratelimit-reset-after", "x-ratelimit-reset"},
    {"x-rate-limit", "x-rate-limit-remaining", "x-rate-limit-reset", ""},
  };

  private Quotas() {}

  /** One quota as a response shows it. A reset of 0: unknown, or already. */
  record Quota(long remaining, long resetMs) {}

  /** The family that counts. A name of "": none is readable. */
  record Family(String name, List<Quota> quotas) {
    /** The latest reset among the quotas with at most so many units. */
    long resetMs(long headroom) {
      long latest = 0;
      for (final Quota quota : quotas) {
        latest = quota.remaining <= headroom ? Math.max(latest, quota.resetMs) : latest;
      }
      return latest;
    }
  }

  /** A member of a structured field's list. Values are kept as they are written. */
  private record Item(String name, Map<String, String> parameters) {
    /** A parameter that is a whole number, else -1. */
    long whole(String parameter) {
      final String text = parameters.getOrDefault(parameter, "");
      final Cursor cursor = new Cursor(text);
      final String digits = cursor.digits(15);
      return !digits.isEmpty() && cursor.atEnd() ? Cursor.saturated(digits) : -1;
    }
  }

  /** {@code refused}: a limit refused the request, so a reset without a remaining number means that nothing remains. */
  static Family of(Fields fields, boolean refused, long serverNowMs, long nowMs) {
    if (units(fields.get("age")) > 0) {
      return new Family("", List.of()); // From a cache.
    }
    final List<Quota> found = ietf(fields);
    if (!found.isEmpty()) {
      return new Family("ratelimit", found);
    }
    String family = "";
    for (final String[] names : FAMILIES) {
      if (!found.isEmpty() && !family.equals(names[0])) {
        break;
      }
      family = names[0];
      final long remaining = units(fields.get(names[1]));
      if (remaining < 0 && !refused) {
        continue;
      }
      long reset = Times.resetInMs(fields.get(names[2]), serverNowMs, nowMs);
      reset = reset != 0 ? reset : Times.resetInMs(fields.get(names[3]), serverNowMs, nowMs);
      if (remaining >= 0 || reset != 0) {
        found.add(new Quota(Math.max(0, remaining), reset));
      }
    }
    return new Family(found.isEmpty() ? "" : family, found);
  }

  /** Remaining units: whole ones, and none if the number is negative. -1 if unreadable. */
  private static long units(String text) {
    final Cursor cursor = new Cursor(text);
    final boolean negative = cursor.take("-");
    final Times.Decimal decimal = Times.Decimal.take(cursor);
    if (decimal == null || !cursor.atEnd()) {
      return -1;
    }
    return negative ? 0 : Cursor.saturated(decimal.whole());
  }

  private static List<Quota> ietf(Fields fields) {
    final String text = fields.get("ratelimit");
    final List<Quota> quotas = new ArrayList<>();
    final Map<String, String> members = draft7(text);
    if (members != null) {
      if (members.containsKey("remaining")) {
        quotas.add(new Quota(Cursor.saturated(members.get("remaining")),
            Cursor.times(Cursor.saturated(members.getOrDefault("reset", "")), 1000)));
      }
      return quotas;
    }
    final List<Item> policies = items(fields.get("ratelimit-policy"));
    for (final Item item : items(text)) {
      final long remaining = item.whole("r");
      if (remaining < 0) {
        continue;
      }
      long seconds = item.whole("t");
      if (seconds < 0) {
        for (final Item policy : policies) {
          seconds = policy.name.equals(item.name) ? Math.max(0, policy.whole("w")) : seconds;
        }
      }
      quotas.add(new Quota(remaining, Cursor.times(Math.max(0, seconds), 1000)));
    }
    return quotas;
  }

  /** Draft 7's {@code limit=100, remaining=0, reset=30}. Null if it is not that. */
  private static Map<String, String> draft7(String text) {
    final Map<String, String> members = new HashMap<>();
    final Cursor cursor = new Cursor(text);
    while (true) {
      final String name = cursor.takeAll(LOWER);
      final boolean equals = cursor.take("=");
      final String digits = cursor.digits();
      if (name.isEmpty() || !equals || digits.isEmpty() || digits.length() > 15) {
        return null;
      }
      members.put(name, digits);
      if (cursor.atEnd()) {
        return members;
      }
      if (!takeComma(cursor)) {
        return null;
      }
    }
  }

  private static boolean takeComma(Cursor cursor) {
    cursor.takeAll(" \t");
    final boolean comma = cursor.take(",");
    cursor.takeAll(" \t");
    return comma;
  }

  /** {@code "burst";r=0;t=2, "daily";r=900} (RFC 9651). Empty if it is malformed. */
  private static List<Item> items(String text) {
    final List<Item> items = new ArrayList<>();
    final Cursor cursor = new Cursor(text);
    while (true) {
      final String name = itemName(cursor);
      if (name == null) {
        return List.of();
      }
      final Item item = new Item(name, new HashMap<>());
      while (parameter(cursor, item.parameters)) {
      }
      items.add(item);
      cursor.takeAll(" \t");
      if (cursor.atEnd()) {
        return items;
      }
      if (!takeComma(cursor)) {
        return List.of();
      }
    }
  }

  private static String itemName(Cursor cursor) {
    if (cursor.startsWithOneOf("\"")) {
      return quoted(cursor);
    }
    if (cursor.startsWithOneOf(TOKEN_START)) {
      return cursor.takeAll(TOKEN);
    }
    final int from = cursor.at;
    cursor.take("-");
    return cursor.digits(15).isEmpty() ? null : cursor.text.substring(from, cursor.at);
  }

  /** What stands between the quotation marks; null if they do not close. */
  private static String quoted(Cursor cursor) {
    final String text = cursor.text;
    for (int i = cursor.at + 1; i < text.length(); ++i) {
      final char c = text.charAt(i);
      if (c == '"') {
        final String inside = text.substring(cursor.at + 1, i);
        cursor.at = i + 1;
        return inside;
      }
      if (c == '\\') {
        ++i;
        if (i == text.length() || (text.charAt(i) != '"' && text.charAt(i) != '\\')) {
          return null;
        }
      } else if (c < ' ' || c > '~') {
        return null;
      }
    }
    return null;
  }

  private static boolean parameter(Cursor cursor, Map<String, String> parameters) {
    final int before = cursor.at;
    cursor.takeAll(" ");
    if (!cursor.take(";")) {
      cursor.at = before;
      return false;
    }
    cursor.takeAll(" ");
    if (!cursor.startsWithOneOf(LOWER + "*")) {
      cursor.at = before;
      return false;
    }
    final String key = cursor.takeAll(LOWER + "0123456789_.*-");
    String value = "?1";
    if (cursor.take("=")) {
      final int from = cursor.at;
      if (!value(cursor)) {
        cursor.at = from - 1; // The "=" makes the field malformed.
        return false;
      }
      value = cursor.text.substring(from, cursor.at);
    }
    parameters.put(key, value);
    return true;
  }

  private static boolean value(Cursor cursor) {
    if (cursor.startsWithOneOf("\"")) {
      return quoted(cursor) != null;
    }
    if (cursor.take(":")) {
      cursor.takeAll("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=" + LOWER);
      return cursor.take(":");
    }
    if (cursor.take("?")) {
      return cursor.take("0") || cursor.take("1");
    }
    if (cursor.startsWithOneOf(TOKEN_START)) {
      cursor.takeAll(TOKEN);
      return true;
    }
    cursor.take("-");
    final int whole = cursor.digits().length();
    if (whole == 0 || whole > 15) {
      return false;
    }
    if (!cursor.take(".")) {
      return true;
    }
    final int fraction = cursor.digits().length();
    return whole <= 12 && fraction >= 1 && fraction <= 3 && !cursor.startsWithOneOf(".");
  }
}

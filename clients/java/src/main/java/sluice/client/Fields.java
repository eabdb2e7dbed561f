package sluice.client;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Header fields by lower-case name; several lines of one name are joined as in RFC 9110, 5.3. */
final class Fields {
  private final Map<String, String> values = new HashMap<>();

  Fields(List<Map.Entry<String, String>> lines) {
    for (final Map.Entry<String, String> line : lines) {
      values.merge(line.getKey().toLowerCase(Locale.ROOT), trim(line.getValue()), (before, more) -> before + ", " + more);
    }
  }

  /** "" if absent. */
  String get(String name) {
    return values.getOrDefault(name, "");
  }

  static String trim(String text) {
    int from = 0;
    int to = text.length();
    while (from < to && " \t".indexOf(text.charAt(from)) >= 0) {
      ++from;
    }
    while (to > from && " \t".indexOf(text.charAt(to - 1)) >= 0) {
      --to;
    }
    return text.substring(from, to);
  }
}

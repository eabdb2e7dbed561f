package sluice.client;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The little of JSON that answers of Sluice and bodies of problems need. Values are Map, List, String, Boolean, Long (up to 2^53 - 1,
 * larger ones count as that), Double (with a fraction or exponent) and null. Of a name that comes twice, the last one counts.
 */
final class Json {
  private static final int DEEPEST = 32;

  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  /** Reads one JSON text (RFC 8259). Throws IllegalArgumentException if it is malformed or nested deeper than 32. */
  static Object read(String text) {
    final Json reader = new Json(text);
    final Object value = reader.value(0);
    reader.space();
    if (reader.at != text.length()) {
      throw reader.malformed();
    }
    return value;
  }

  /** An object; an empty one if the text is anything else. */
  static Map<?, ?> readObject(String text) {
    try {
      return read(text) instanceof Map<?, ?> members ? members : Map.of();
    } catch (IllegalArgumentException malformed) {
      return Map.of();
    }
  }

  static String text(Map<?, ?> members, String name) {
    return members.get(name) instanceof String value ? value : "";
  }

  /** Null if it is not a whole number. */
  static Long whole(Map<?, ?> members, String name) {
    return members.get(name) instanceof Long value ? value : null;
  }

  static boolean isTrue(Map<?, ?> members, String name) {
    return Boolean.TRUE.equals(members.get(name));
  }

  /** The objects of a list. */
  static List<Map<?, ?>> objects(Map<?, ?> members, String name) {
    final List<Map<?, ?>> objects = new ArrayList<>();
    if (members.get(name) instanceof List<?> list) {
      for (final Object each : list) {
        if (each instanceof Map<?, ?> object) {
          objects.add(object);
        }
      }
    }
    return objects;
  }

  private IllegalArgumentException malformed() {
    return new IllegalArgumentException("malformed JSON at character " + at);
  }

  private void space() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      ++at;
    }
  }

  private boolean take(char c) {
    if (at < text.length() && text.charAt(at) == c) {
      ++at;
      return true;
    }
    return false;
  }

  private Object literal(String word, Object value) {
    if (!text.startsWith(word, at)) {
      throw malformed();
    }
    at += word.length();
    return value;
  }

  private Object value(int depth) {
    space();
    if (at == text.length() || depth > DEEPEST) {
      throw malformed();
    }
    return switch (text.charAt(at)) {
      case '{' -> object(depth);
      case '[' -> list(depth);
      case '"' -> string();
      case 't' -> literal("true", true);
      case 'f' -> literal("false", false);
      case 'n' -> literal("null", null);
      default -> number();
    };
  }

  private Map<String, Object> object(int depth) {
    final Map<String, Object> members = new LinkedHashMap<>();
    ++at;
    space();
    if (take('}')) {
      return members;
    }
    do {
      space();
      if (at == text.length() || text.charAt(at) != '"') {
        throw malformed();
      }
      final String name = string();
      space();
      if (!take(':')) {
        throw malformed();
      }
      members.put(name, value(depth + 1));
      space();
    } while (take(','));
    if (!take('}')) {
      throw malformed();
    }
    return members;
  }

  private List<Object> list(int depth) {
    final List<Object> items = new ArrayList<>();
    ++at;
    space();
    if (take(']')) {
      return items;
    }
    do {
      items.add(value(depth + 1));
      space();
    } while (take(','));
    if (!take(']')) {
      throw malformed();
    }
    return items;
  }

  private int digits() {
    final int from = at;
    while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
      ++at;
    }
    return at - from;
  }

  private Number number() {
    final int from = at;
    final boolean negative = take('-');
    final int first = at;
    final int count = digits();
    if (count == 0 || (count > 1 && text.charAt(first) == '0')) {
      throw malformed();
    }
    final int wholeEnd = at;
    if (take('.') && digits() == 0) {
      throw malformed();
    }
    if (take('e') || take('E')) {
      if (!take('+')) {
        take('-');
      }
      if (digits() == 0) {
        throw malformed();
      }
    }
    if (at != wholeEnd) {
      return Double.valueOf(text.substring(from, at));
    }
    final long value = Cursor.saturated(text.substring(first, wholeEnd));
    return negative ? -value : value;
  }

  private String string() {
    final int from = ++at;
    while (at < text.length() && text.charAt(at) != '"' && text.charAt(at) != '\\' && text.charAt(at) >= ' ') {
      ++at;
    }
    if (take('"')) {
      return text.substring(from, at - 1); // Most have no escapes.
    }
    final StringBuilder out = new StringBuilder(text.substring(from, at));
    while (at < text.length()) {
      final char c = text.charAt(at++);
      if (c == '"') {
        return out.toString();
      }
      if (c < ' ') {
        break;
      }
      out.append(c == '\\' ? escape() : c);
    }
    throw malformed();
  }

  private char escape() {
    if (at == text.length()) {
      throw malformed();
    }
    final char c = text.charAt(at++);
    final int named = "\"\\/bfnrt".indexOf(c);
    if (named >= 0) {
      return "\"\\/\b\f\n\r\t".charAt(named);
    }
    if (c != 'u' || at + 4 > text.length()) {
      throw malformed();
    }
    int code = 0;
    for (int i = 0; i < 4; ++i) {
      final char hex = text.charAt(at++);
      final int digit = hex < 128 ? Character.digit(hex, 16) : -1;
      if (digit < 0) {
        throw malformed();
      }
      code = code * 16 + digit;
    }
    return (char) code;
  }

  static void appendText(CharSequence value, StringBuilder out) {
    out.append('"');
    for (int i = 0; i < value.length(); ++i) {
      final char c = value.charAt(i);
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c < ' ' || (Character.isSurrogate(c) && !isPaired(value, i))) {
        // Half a surrogate pair has no UTF-8. As an escape, Sluice refuses it instead of taking it for another text.
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    out.append('"');
  }

  private static boolean isPaired(CharSequence value, int i) {
    return Character.isHighSurrogate(value.charAt(i))
        ? i + 1 < value.length() && Character.isLowSurrogate(value.charAt(i + 1))
        : i > 0 && Character.isHighSurrogate(value.charAt(i - 1));
  }

  /** Text, a number, true or false. Throws IllegalArgumentException for others. */
  static void appendValue(String name, Object value, StringBuilder out) {
    if (value instanceof CharSequence text) {
      appendText(text, out);
    } else if (value instanceof Boolean || value instanceof Integer || value instanceof Long || value instanceof Short
        || value instanceof Byte || value instanceof BigInteger || value instanceof BigDecimal
        || (value instanceof Double d && Double.isFinite(d)) || (value instanceof Float f && Float.isFinite(f))) {
      out.append(value);
    } else {
      throw new IllegalArgumentException("attribute " + name + ": expected a text, a finite number or a boolean, got " + value);
    }
  }
}

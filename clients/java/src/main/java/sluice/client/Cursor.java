package sluice.client;

/** Takes texts off the front of a text. */
final class Cursor {
  /** The longest time that a response can state: 2^53 - 1 ms. Longer ones count as that. */
  static final long MOST_MS = (1L << 53) - 1;

  private static final String DIGITS = "0123456789";

  final String text;
  int at;

  Cursor(String text) {
    this.text = text;
  }

  boolean atEnd() {
    return at == text.length();
  }

  String rest() {
    return text.substring(at);
  }

  boolean take(String literal) {
    if (!text.startsWith(literal, at)) {
      return false;
    }
    at += literal.length();
    return true;
  }

  boolean startsWithOneOf(String set) {
    return at < text.length() && set.indexOf(text.charAt(at)) >= 0;
  }

  /** As many characters of {@code set} as there are, up to {@code most}. */
  String takeAll(String set, int most) {
    final int from = at;
    while (at - from < most && startsWithOneOf(set)) {
      ++at;
    }
    return text.substring(from, at);
  }

  String takeAll(String set) {
    return takeAll(set, Integer.MAX_VALUE);
  }

  String digits() {
    return takeAll(DIGITS);
  }

  String digits(int most) {
    return takeAll(DIGITS, most);
  }

  /** Exactly {@code count} digits; -1 if there are fewer. */
  int number(int count) {
    final String digits = digits(count);
    return digits.length() == count ? Integer.parseInt(digits) : -1;
  }

  /** Which of the words is next, from 0; -1 if none is. */
  int word(String... words) {
    for (int i = 0; i < words.length; ++i) {
      if (take(words[i])) {
        return i;
      }
    }
    return -1;
  }

  static long saturated(String digits) {
    long value = 0;
    for (int i = 0; i < digits.length(); ++i) {
      value = Math.min(value * 10 + (digits.charAt(i) - '0'), MOST_MS);
    }
    return value;
  }

  static long times(long value, long factor) {
    return value > MOST_MS / factor ? MOST_MS : value * factor;
  }
}

package sluice.client;

/** Times as header fields state them. The rules are those of clients/vectors/README.md. */
final class Times {
  /** No time is readable. Every readable point in time is later. */
  static final long NONE = Long.MIN_VALUE;

  private static final String[] MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
  private static final String[] DAYS = "Mon Tue Wed Thu Fri Sat Sun".split(" ");
  private static final String[] LONG_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(" ");
  private static final String[] UNITS = {"d", "h", "m", "s", "ms"};
  private static final long[] UNIT_MS = {86_400_000, 3_600_000, 60_000, 1000, 1};
  private static final int FIRST_DECIMAL_UNIT = 3;

  private Times() {}

  /** Digits, and maybe a point and digits. */
  record Decimal(String whole, String fraction) {
    /** Null if the cursor is not at a digit. */
    static Decimal take(Cursor cursor) {
      final String whole = cursor.digits();
      if (whole.isEmpty()) {
        return null;
      }
      final int behind = cursor.at;
      String fraction = "";
      if (cursor.take(".")) {
        fraction = cursor.digits();
        if (fraction.isEmpty()) {
          cursor.at = behind;
        }
      }
      return new Decimal(whole, fraction);
    }

    /** Null if the text is anything else. */
    static Decimal read(String text) {
      final Cursor cursor = new Cursor(text);
      final Decimal decimal = take(cursor);
      return cursor.atEnd() ? decimal : null;
    }

    /** So many units of {@code unitMs}, in whole milliseconds, rounded up. */
    long toMs(long unitMs) {
      int used = fraction.length();
      while (used > 0 && fraction.charAt(used - 1) == '0') {
        --used;
      }
      long part = 0; // In millionths.
      for (int i = 0; i < 6; ++i) {
        part = part * 10 + (i < used ? fraction.charAt(i) - '0' : 0);
      }
      part *= unitMs;
      final long more = used > 6 ? part / 1_000_000 + 1 : (part + 999_999) / 1_000_000;
      return Math.min(Cursor.times(Cursor.saturated(whole), unitMs) + more, Cursor.MOST_MS);
    }
  }

  /** A number of units; NONE if unreadable. */
  static long decimalMs(String text, long unitMs) {
    final Decimal decimal = Decimal.read(text);
    return decimal == null ? NONE : decimal.toMs(unitMs);
  }

  private static long unixMs(int year, int month, int day, int[] time) {
    if (year < 1 || month < 1 || month > 12 || day < 1 || time[0] > 23 || time[1] > 59 || time[2] > 60
        || day > java.time.YearMonth.of(year, month).lengthOfMonth()) {
      return NONE;
    }
    return (java.time.LocalDate.of(year, month, day).toEpochDay() * 86_400 + time[0] * 3600L + time[1] * 60L + time[2]) * 1000;
  }

  /** Hour, minute and second of {@code 12:34:56}; null if it is not that. */
  private static int[] takeTime(Cursor cursor) {
    final int[] time = new int[3];
    for (int i = 0; i < 3; ++i) {
      if ((i > 0 && !cursor.take(":")) || (time[i] = cursor.number(2)) < 0) {
        return null;
      }
    }
    return time;
  }

  /** An HTTP-date (RFC 9110, 5.6.7) in Unix milliseconds; {@code nowMs} decides the century of a year of two digits. */
  static long httpDateMs(String text, long nowMs) {
    long at = fixedDateMs(new Cursor(text));
    at = at != NONE ? at : ascDateMs(new Cursor(text));
    return at != NONE ? at : oldDateMs(new Cursor(text), nowMs);
  }

  private static long fixedDateMs(Cursor c) {
    int day = -1;
    int month = -1;
    int year = -1;
    int[] time = null;
    final boolean read = c.word(DAYS) >= 0 && c.take(", ") && (day = c.number(2)) >= 0 && c.take(" ")
        && (month = c.word(MONTHS)) >= 0 && c.take(" ") && (year = c.number(4)) >= 0 && c.take(" ")
        && (time = takeTime(c)) != null && c.rest().equals(" GMT");
    return read ? unixMs(year, month + 1, day, time) : NONE;
  }

  private static long ascDateMs(Cursor c) {
    int day = -1;
    int month = -1;
    int year = -1;
    int[] time = null;
    final boolean read = c.word(DAYS) >= 0 && c.take(" ") && (month = c.word(MONTHS)) >= 0 && c.take(" ")
        && (day = c.number(c.take(" ") ? 1 : 2)) >= 0 && c.take(" ") && (time = takeTime(c)) != null && c.take(" ")
        && (year = c.number(4)) >= 0 && c.atEnd();
    return read ? unixMs(year, month + 1, day, time) : NONE;
  }

  private static long oldDateMs(Cursor c, long nowMs) {
    int day = -1;
    int month = -1;
    int year = -1;
    int[] time = null;
    final boolean read = c.word(LONG_DAYS) >= 0 && c.take(", ") && (day = c.number(2)) >= 0 && c.take("-")
        && (month = c.word(MONTHS)) >= 0 && c.take("-") && (year = c.number(2)) >= 0 && c.take(" ")
        && (time = takeTime(c)) != null && c.rest().equals(" GMT");
    if (!read) {
      return NONE;
    }
    final int thisYear = (int) (1970 + nowMs / 31_556_952_000L);
    year += thisYear - thisYear % 100;
    year -= year > thisYear + 50 ? 100 : 0;
    return unixMs(year, month + 1, day, time);
  }

  static long rfc3339Ms(String text) {
    final Cursor c = new Cursor(text);
    int year = -1;
    int month = -1;
    int day = -1;
    int[] time = null;
    if (!((year = c.number(4)) >= 0 && c.take("-") && (month = c.number(2)) >= 0 && c.take("-") && (day = c.number(2)) >= 0
        && c.word("T", "t", " ") >= 0 && (time = takeTime(c)) != null)) {
      return NONE;
    }
    long at = unixMs(year, month, day, time);
    if (at == NONE) {
      return NONE;
    }
    if (c.take(".")) {
      final String fraction = c.digits();
      if (fraction.isEmpty()) {
        return NONE;
      }
      at += new Decimal("0", fraction).toMs(1000);
    }
    if (c.rest().equals("Z") || c.rest().equals("z")) {
      return at;
    }
    final boolean west = c.take("-");
    int hours = -1;
    int minutes = -1;
    if (!(west || c.take("+")) || (hours = c.number(2)) < 0 || !c.take(":") || (minutes = c.number(2)) < 0 || !c.atEnd()) {
      return NONE;
    }
    final long offset = (hours * 60L + minutes) * 60_000;
    return west ? at + offset : at - offset;
  }

  /** {@code 1h2m3.5s}, {@code 17ms}: each unit at most once, the largest first. NONE if unreadable. */
  static long durationMs(String text) {
    final Cursor c = new Cursor(text);
    long total = 0;
    int next = 0;
    while (!c.atEnd()) {
      final Decimal decimal = Decimal.take(c);
      final String name = c.takeAll("dhms", c.text.startsWith("ms", c.at) ? 2 : 1);
      while (next < UNITS.length && !UNITS[next].equals(name)) {
        ++next;
      }
      if (decimal == null || next == UNITS.length || (!decimal.fraction.isEmpty() && next < FIRST_DECIMAL_UNIT)) {
        return NONE;
      }
      total = Math.min(total + decimal.toMs(UNIT_MS[next++]), Cursor.MOST_MS);
    }
    return text.isEmpty() ? NONE : total;
  }

  /** Milliseconds from now until a reset that is written in any of the usual ways; 0 if unreadable or past. */
  static long resetInMs(String text, long serverNowMs, long nowMs) {
    final Decimal number = Decimal.read(text);
    if (number != null) {
      final int digits = number.whole.replaceFirst("^0+", "").length();
      return digits <= 9 ? number.toMs(1000) // A time to wait: 10^9 seconds are 31 years.
          : digits <= 11 ? Math.max(0, number.toMs(1000) - serverNowMs)
          : digits <= 14 ? Math.max(0, number.toMs(1) - serverNowMs) : 0;
    }
    final long duration = durationMs(text);
    if (duration != NONE) {
      return duration;
    }
    long at = rfc3339Ms(text);
    at = at != NONE ? at : httpDateMs(text, nowMs);
    return at == NONE ? 0 : Math.max(0, at - serverNowMs);
  }
}

package sluice.client;

import java.util.Objects;

/** Counts what holds and prints what does not. */
final class Checks {
  private int made;
  private int failed;

  synchronized void same(String what, Object expected, Object got) {
    ++made;
    if (!Objects.equals(expected, got)) {
      ++failed;
      System.out.println("FAILED " + what + ": expected " + expected + ", got " + got);
    }
  }

  void holds(String what, boolean condition) {
    same(what, true, condition);
  }

  /** Something that may throw anything. */
  interface Step {
    void run() throws Exception;
  }

  /** The exception, for further checks; null if none of this class was thrown. */
  <E extends Exception> E raises(String what, Class<E> type, Step step) {
    Exception thrown = null;
    try {
      step.run();
    } catch (Exception error) {
      thrown = error;
    }
    same(what + " raises" + (thrown == null ? "" : " (" + thrown + ")"), true, type.isInstance(thrown));
    return type.isInstance(thrown) ? type.cast(thrown) : null;
  }

  int failed() {
    return failed;
  }

  int made() {
    return made;
  }
}

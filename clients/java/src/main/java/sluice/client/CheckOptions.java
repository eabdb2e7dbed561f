package sluice.client;

/**
 * How a check is made. Values do not change: each method gives another one.
 *
 * @param cost units, 0 to 999999999999999
 * @param peek charge nothing
 * @param waits let the daemon hold the answer back until a shaped request may go
 * @param receipt the decision has a text for {@link SluiceClient#refund}
 * @param reserve the decision has a text for {@link SluiceClient#settle}
 * @param idempotencyKey of your caller's request, so that its retries are charged once; "": the client makes one if it retries
 */
public record CheckOptions(long cost, boolean peek, boolean waits, boolean receipt, boolean reserve, String idempotencyKey) {
  /** A cost of 1, and nothing else. */
  public static final CheckOptions DEFAULT = new CheckOptions(1, false, false, false, false, "");

  /** Throws IllegalArgumentException for a key that HTTP does not allow, such as one with a line break. */
  public CheckOptions {
    Wire.checkFieldText("idempotencyKey", idempotencyKey);
  }

  /** With a cost, from 0. */
  public static CheckOptions ofCost(long units) {
    return DEFAULT.withCost(units);
  }

  /** With another cost. */
  public CheckOptions withCost(long units) {
    return new CheckOptions(units, peek, waits, receipt, reserve, idempotencyKey);
  }

  /** Charges nothing. */
  public CheckOptions peeking() {
    return new CheckOptions(cost, true, waits, receipt, reserve, idempotencyKey);
  }

  /** Answered when a shaped request may go. */
  public CheckOptions waiting() {
    return new CheckOptions(cost, peek, true, receipt, reserve, idempotencyKey);
  }

  /** With a receipt. */
  public CheckOptions withReceipt() {
    return new CheckOptions(cost, peek, waits, true, reserve, idempotencyKey);
  }

  /** With a reservation. */
  public CheckOptions reserving() {
    return new CheckOptions(cost, peek, waits, receipt, true, idempotencyKey);
  }

  /** With the key of your caller's request. */
  public CheckOptions withIdempotencyKey(String key) {
    return new CheckOptions(cost, peek, waits, receipt, reserve, key);
  }
}

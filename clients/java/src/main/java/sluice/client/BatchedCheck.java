package sluice.client;

import java.util.Map;

/**
 * One element of a batch.
 *
 * @param attributes texts, numbers and booleans by name
 * @param cost units, from 0
 * @param peek charge nothing
 */
public record BatchedCheck(Map<String, ?> attributes, long cost, boolean peek) {
  /** A cost of 1. */
  public BatchedCheck(Map<String, ?> attributes) {
    this(attributes, 1, false);
  }

  /** With a cost. */
  public BatchedCheck(Map<String, ?> attributes, long cost) {
    this(attributes, cost, false);
  }
}

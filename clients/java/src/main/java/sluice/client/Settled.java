package sluice.client;

/**
 * A rule's part of a settlement.
 *
 * @param name of the rule
 * @param charged units, by the reservation
 * @param cost units that count now
 */
public record Settled(String name, long charged, long cost) {}

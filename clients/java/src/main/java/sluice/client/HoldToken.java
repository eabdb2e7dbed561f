package sluice.client;

/**
 * One slot of a concurrency rule.
 *
 * @param name of the rule
 * @param id what the daemon calls the slot
 */
public record HoldToken(String name, String id) {}

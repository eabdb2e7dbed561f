package sluice.client;

import java.time.Duration;

/**
 * The request that was answered, and its caller.
 *
 * @param nowMs the wall clock, in Unix milliseconds; for responses without a Date
 * @param method of HTTP
 * @param idempotencyKey whether the request carried one
 * @param attempt 1 for the first
 * @param left the time that the caller has; null for ever
 */
public record Caller(long nowMs, String method, boolean idempotencyKey, int attempt, Duration left) {}

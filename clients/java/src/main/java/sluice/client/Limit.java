package sluice.client;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * One rule that applied to a request.
 *
 * @param name of the rule
 * @param allowed whether the rule lets the request pass
 * @param limit units; empty if the rule has none
 * @param remaining units that are left
 * @param resetAt Unix seconds at which the full limit is back
 * @param reason of a denial; "" if there is none
 * @param retryAfter of a denial that waiting ends
 * @param shadow whether the rule only observes
 * @param degraded whether the rule was decided without its store
 */
public record Limit(String name, boolean allowed, OptionalLong limit, OptionalLong remaining, OptionalLong resetAt, String reason,
    Optional<Duration> retryAfter, boolean shadow, boolean degraded) {}

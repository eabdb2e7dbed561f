package sluice.client;

import java.time.Duration;

/**
 * What a caller allows.
 *
 * @param maxAttempts how often a request is sent at most, the first time included; 1 or more
 * @param cap the longest single wait; a server that asks for more is given up on
 * @param base the first back-off, where the server states no time; it doubles
 * @param jitter by which part a wait may be extended, 0 or more; it is never shortened
 * @param headroom units of each quota that are left to its other users, 0 or more
 */
public record Policy(int maxAttempts, Duration cap, Duration base, double jitter, long headroom) {
  /** Four attempts, waits of up to a minute, half a second of back-off, 20 % of jitter, no headroom. */
  public static final Policy DEFAULT = new Policy(4, Duration.ofMinutes(1), Duration.ofMillis(500), 0.2, 0);

  /** Throws IllegalArgumentException for a value that is out of range. */
  public Policy {
    if (maxAttempts < 1 || cap.isNegative() || base.toMillis() < 1 || !(jitter >= 0 && jitter <= 10) || headroom < 0) {
      throw new IllegalArgumentException(
          "policy: maxAttempts is at least 1, base at least 1 ms, cap and headroom not negative, jitter 0 to 10");
    }
  }

  /** With another number of attempts. */
  public Policy withMaxAttempts(int attempts) {
    return new Policy(attempts, cap, base, jitter, headroom);
  }

  /** With another longest wait. */
  public Policy withCap(Duration longest) {
    return new Policy(maxAttempts, longest, base, jitter, headroom);
  }

  /** With another first back-off. */
  public Policy withBase(Duration first) {
    return new Policy(maxAttempts, cap, first, jitter, headroom);
  }

  /** With another jitter. */
  public Policy withJitter(double part) {
    return new Policy(maxAttempts, cap, base, part, headroom);
  }

  /** With another headroom. */
  public Policy withHeadroom(long units) {
    return new Policy(maxAttempts, cap, base, jitter, units);
  }
}

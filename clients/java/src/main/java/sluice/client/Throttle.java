package sluice.client;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What servers said about their limits, by resource. Each resource waits by itself; resources share a bucket once the server names it
 * (X-RateLimit-Resource, X-RateLimit-Bucket). Safe from any thread.
 */
public final class Throttle {
  private static final int MOST_BUCKETS = 4096; // The least recently used are forgotten.
  /** How soon to look again while requests under way use up what is left: their answers say more. */
  private static final long WHILE_IN_FLIGHT = 50_000_000;

  final Policy policy;
  final Clock clock;
  private final LinkedHashMap<String, Bucket> buckets = new LinkedHashMap<>(16, 0.75f, true) {
    private static final long serialVersionUID = 1;

    @Override
    protected boolean removeEldestEntry(Map.Entry<String, Bucket> eldest) {
      return size() > MOST_BUCKETS && eldest.getValue().inFlight == 0;
    }
  };
  private final Map<String, String> named = new LinkedHashMap<>(); // Resource to bucket, as the server named it.

  /** What is known of one quota of a server. */
  static final class Bucket {
    private boolean isHeld;
    private long until; // Nothing is sent before.
    private Advice why;
    private boolean isCounted;
    private long left; // Units that the last answer showed, less what was sent since.
    private long reset;
    private Advice shown;
    private int inFlight;
  }

  /** How long to wait and why; or a bucket that counts the request, which may be sent now. */
  record Entry(Duration time, Advice why, Bucket bucket) {}

  /** What a resource waits for. */
  public record Holding(Duration time, Advice why) {}

  /** With a policy. */
  public Throttle(Policy policy) {
    this(policy, Clock.SYSTEM);
  }

  Throttle(Policy policy, Clock clock) {
    this.policy = policy;
    this.clock = clock;
  }

  /** How long requests to this resource are held now, and why; empty if they are not. */
  public synchronized Optional<Holding> holding(String host, String resource) {
    final Entry entry = waitOf(host, resource);
    return entry.time.isZero() ? Optional.empty() : Optional.of(new Holding(entry.time, entry.why));
  }

  synchronized Entry enter(String host, String resource) {
    final Entry entry = waitOf(host, resource);
    if (entry.time.isZero()) {
      ++entry.bucket.inFlight;
      --entry.bucket.left;
    }
    return entry;
  }

  /** Ends what enter() began. {@code advice}: null if there was no response. */
  synchronized void leave(Bucket entered, String host, String resource, Advice advice) {
    Bucket bucket = entered;
    bucket.inFlight -= 1;
    if (advice == null) {
      return;
    }
    final long now = clock.nanos();
    if (advice.bucket() != null) {
      if (named.size() >= MOST_BUCKETS && !named.containsKey(resource)) {
        named.clear(); // The next answers name their buckets again.
      }
      final String name = host + " " + advice.bucket();
      named.put(resource, name);
      bucket = bucket(name);
    }
    if (!advice.hold().isZero()) {
      final Bucket held = advice.everywhere() ? bucket(host) : bucket;
      final long until = now + advice.hold().toNanos();
      if (!held.isHeld || until - held.until > 0) {
        held.isHeld = true;
        held.until = until;
        held.why = advice;
      }
    }
    if (advice.left() != null) {
      bucket.isCounted = true;
      bucket.left = advice.left().units() - bucket.inFlight;
      bucket.reset = now + advice.left().reset().toNanos();
      bucket.shown = advice;
    }
  }

  private Bucket bucket(String name) {
    return buckets.computeIfAbsent(name, unknown -> new Bucket());
  }

  private static Entry hold(long nanos, Advice why) {
    return new Entry(Duration.ofMillis((nanos + 999_999) / 1_000_000), why, null);
  }

  private Entry waitOf(String host, String resource) {
    final long now = clock.nanos();
    final Bucket whole = buckets.get(host);
    final Bucket own = bucket(named.getOrDefault(resource, resource));
    for (final Bucket bucket : whole == null ? new Bucket[] {own} : new Bucket[] {whole, own}) {
      bucket.isHeld = bucket.isHeld && bucket.until - now > 0;
      if (bucket.isHeld) {
        return hold(bucket.until - now, bucket.why);
      }
    }
    if (own.isCounted && own.reset - now <= 0) {
      own.isCounted = false; // A new window: the next answer says how much it holds.
    }
    if (own.isCounted && own.left <= policy.headroom()) {
      return hold(own.inFlight == 0 ? own.reset - now : Math.min(own.reset - now, WHILE_IN_FLIGHT), own.shown);
    }
    return new Entry(Duration.ZERO, null, own);
  }
}

package sluice.client;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Asks a Sluice daemon over HTTP. Safe from any thread: make one for a process, and share it. */
public final class SluiceClient implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger("sluice.client");
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final long FRESH_NANOS = 1_000_000_000; // A server that keeps connections keeps them for longer.
  private static final long LOG_EVERY_NANOS = 60_000_000_000L;

  private final Server server;
  private final String authorization;
  private final Duration timeout;
  private final int retries;
  private final boolean failOpen;
  private final Policy policy;
  private final int maxIdle;
  private final Clock clock;
  private final Breaker breaker;
  private final ConcurrentLinkedDeque<Connection> idle = new ConcurrentLinkedDeque<>();
  private final AtomicInteger idleCount = new AtomicInteger();
  private final AtomicLong loggedAt = new AtomicLong();
  private volatile boolean closed;

  private SluiceClient(Builder options) {
    this.server = Server.of(options.url);
    Wire.checkFieldText("token", options.token);
    if (options.timeout.isNegative() || options.timeout.isZero() || options.retries < 0 || options.maxIdle < 0) {
      throw new IllegalArgumentException("timeout is above 0, and retries and maxIdle are not negative");
    }
    this.authorization = options.token.isEmpty() ? "" : "Authorization: Bearer " + options.token + "\r\n";
    this.timeout = options.timeout;
    this.retries = options.retries;
    this.failOpen = options.failOpen;
    this.policy = options.policy;
    this.maxIdle = options.maxIdle;
    this.clock = options.clock;
    this.breaker = new Breaker(options.breakerFailures, options.breakerRetryEvery, clock);
    this.loggedAt.set(clock.nanos() - LOG_EVERY_NANOS);
  }

  /** Options with their defaults. */
  public static Builder builder() {
    return new Builder();
  }

  /** How a client asks. */
  public static final class Builder {
    private String url = "http://127.0.0.1:8080";
    private String token = "";
    private Duration timeout = Duration.ofMillis(100);
    private int retries = 1;
    private boolean failOpen = true;
    private int breakerFailures = 3;
    private Duration breakerRetryEvery = Duration.ofSeconds(1);
    private Policy policy = Policy.DEFAULT;
    private int maxIdle = 32;
    private Clock clock = Clock.SYSTEM;

    private Builder() {}

    /** Of a check listener, http alone: there is no TLS here. By default http://127.0.0.1:8080. */
    public Builder url(String listener) {
      url = listener;
      return this;
    }

    /** The listener's bearer token, if it has {@code auth}. */
    public Builder token(String bearer) {
      token = bearer;
      return this;
    }

    /** That a call takes at most, connecting and retries included; above 0. By default 100 ms. */
    public Builder timeout(Duration most) {
      timeout = most;
      return this;
    }

    /** Of a call that failed on the way; by default 1. With retries a check has an idempotency key, so it is charged once. */
    public Builder retries(int most) {
      retries = most;
      return this;
    }

    /** Requests pass when Sluice does not answer: the default. */
    public Builder failOpen() {
      failOpen = true;
      return this;
    }

    /** Requests are denied with 503 when Sluice does not answer. */
    public Builder failClosed() {
      failOpen = false;
      return this;
    }

    /** After so many failures in a row only one call each {@code retryEvery} is tried. By default 3 and a second. */
    public Builder breaker(int failures, Duration retryEvery) {
      breakerFailures = failures;
      breakerRetryEvery = retryEvery;
      return this;
    }

    /** How {@link SluiceClient#acquire} waits. */
    public Builder policy(Policy waits) {
      policy = waits;
      return this;
    }

    /** Connections that are kept open between calls; by default 32. */
    public Builder maxIdle(int connections) {
      maxIdle = connections;
      return this;
    }

    Builder clock(Clock other) {
      clock = other;
      return this;
    }

    /** Throws IllegalArgumentException for options that are out of range. */
    public SluiceClient build() {
      return new SluiceClient(this);
    }
  }

  /** {@link #check(Map, CheckOptions)} with a cost of 1. */
  public Decision check(Map<String, ?> attributes) {
    return check(attributes, CheckOptions.DEFAULT);
  }

  /**
   * Whether a request with these attributes may pass now, and if so charges its cost. Does not wait. Ends within the timeout; if Sluice
   * does not answer, the fail mode decides. Throws CallException if the call is wrong, and IllegalArgumentException for an attribute that
   * is no text, number or boolean.
   */
  public Decision check(Map<String, ?> attributes, CheckOptions options) {
    final String key = !options.idempotencyKey().isEmpty() || retries == 0 || options.peek() ? options.idempotencyKey() : newKey();
    final StringBuilder body = new StringBuilder(160);
    Wire.appendCheck(attributes, options, body);
    try {
      return Wire.decisionOf(post("check", body, key, retries, !key.isEmpty() || options.peek()));
    } catch (UnavailableException away) {
      return withoutSluice(away.getMessage());
    }
  }

  /**
   * Up to 1,000 checks in one call, each judged on its own; the decisions are in the same order. A batch carries no idempotency key, so it
   * is not sent again. Throws CallException if one of the checks is wrong; the others were charged.
   */
  public List<Decision> checkMany(List<BatchedCheck> checks) {
    if (checks.isEmpty()) {
      return List.of();
    }
    final StringBuilder body = new StringBuilder(checks.size() * 120).append('[');
    for (final BatchedCheck each : checks) {
      body.append(body.length() > 1 ? "," : "");
      Wire.appendCheck(each.attributes(), new CheckOptions(each.cost(), each.peek(), false, false, false, ""), body);
    }
    try {
      if (!(Wire.answerOf(post("batch", body.append(']'), "", 0, false)) instanceof List<?> answers) || answers.size() != checks.size()) {
        throw new UnavailableException("the answer to a batch has another length than the batch");
      }
      final List<Decision> decisions = new ArrayList<>(checks.size());
      for (final Object answer : answers) {
        final Map<?, ?> members = answer instanceof Map<?, ?> map ? map : Map.of();
        final Long status = Json.whole(members, "status");
        decisions.add(Wire.decisionOf(status == null ? 400 : status.intValue(), members, List.of()));
      }
      return decisions;
    } catch (UnavailableException away) {
      return Collections.nCopies(checks.size(), withoutSluice(away.getMessage()));
    }
  }

  /**
   * Waits until a request may pass, as long as the daemon says and the policy allows. Throws DeniedException at once if the wait would be
   * longer than the deadline leaves.
   *
   * @param deadline from now, for all waits; null for ever
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  public Decision acquire(Map<String, ?> attributes, CheckOptions options, Duration deadline) throws InterruptedException {
    final long from = clock.nanos();
    for (int attempt = 1;; ++attempt) {
      final Decision decision = check(attributes, options);
      if (decision.allowed()) {
        return decision;
      }
      final Duration left = deadline == null ? null : deadline.minusNanos(clock.nanos() - from);
      final Advice advice = Advise.of(decision.answer(), new Caller(clock.wallMs(), "POST", true, attempt, left), policy);
      if (advice.action() != Advice.Action.WAIT) {
        throw new DeniedException(decision);
      }
      clock.sleep(advice.delay(clock.random()));
    }
  }

  /** Charges an estimate, which the settlement replaces by the actual cost. Throws DeniedException if it may not pass. */
  public Reservation reserve(Map<String, ?> attributes, long cost) {
    final Decision decision = check(attributes, CheckOptions.ofCost(cost).reserving());
    if (!decision.allowed()) {
      throw new DeniedException(decision);
    }
    return new Reservation(this, decision);
  }

  /** Takes slots of concurrency rules until they are closed, and renews them. Throws DeniedException if none is free. */
  public Hold hold(Map<String, ?> attributes) {
    return hold(attributes, CheckOptions.DEFAULT, null);
  }

  /** {@code renewEvery}: null for a third of the time that the slots have. */
  public Hold hold(Map<String, ?> attributes, CheckOptions options, Duration renewEvery) {
    final Decision decision = check(attributes, options);
    if (!decision.allowed()) {
      throw new DeniedException(decision);
    }
    return new Hold(this, decision, renewEvery == null ? renewalInterval(decision) : renewEvery);
  }

  /**
   * For filters of frameworks: never throws because Sluice is away or a call is wrong. A wrong call is logged, at most once a minute, and
   * the fail mode decides, because a limiter must not be the reason for an outage. Close the hold when the request is done.
   */
  public Hold enter(Map<String, ?> attributes, CheckOptions options) {
    Decision decision;
    try {
      decision = check(attributes, options);
    } catch (CallException | IllegalArgumentException wrong) {
      final long now = clock.nanos();
      final long before = loggedAt.get();
      if (now - before >= LOG_EVERY_NANOS && loggedAt.compareAndSet(before, now)) {
        LOG.log(Level.ERROR, wrong.getMessage() + "; the fail mode decides until this is mended");
      }
      decision = withoutSluice(wrong.getMessage());
    }
    return new Hold(this, decision, renewalInterval(decision));
  }

  /** What a check would answer now. Charges nothing. Throws UnavailableException. */
  public Decision status(Map<String, ?> attributes) {
    return status(attributes, 1);
  }

  /** What a check of this cost would answer now. */
  public Decision status(Map<String, ?> attributes, long cost) {
    final StringBuilder body = new StringBuilder();
    Wire.appendCheck(attributes, CheckOptions.ofCost(cost).peeking(), body);
    return Wire.decisionOf(post("check", body, "", retries, true));
  }

  /**
   * Charges the actual cost of a reservation. Only the first settlement counts, so it is safe to repeat. Throws UnavailableException.
   *
   * @param costs attributes that rules use as their cost
   */
  public List<Settled> settle(String reservation, long cost, Map<String, Long> costs) {
    final StringBuilder body = new StringBuilder("{\"reservation\":");
    Json.appendText(reservation, body);
    body.append(",\"cost\":").append(cost);
    costs.forEach((name, units) -> {
      body.append(',');
      Json.appendText(name, body);
      body.append(':').append(units);
    });
    final List<Settled> settled = new ArrayList<>();
    for (final Map<?, ?> item : Json.objects(Wire.objectOf(post("settle", body.append('}'), "", retries, true)), "settled")) {
      settled.add(new Settled(Json.text(item, "name"), zeroIfNull(Json.whole(item, "charged")), zeroIfNull(Json.whole(item, "cost"))));
    }
    return settled;
  }

  /** Gives a charge back: units by rule. Works once, so it is safe to repeat. Throws UnavailableException. */
  public Map<String, Long> refund(String receipt) {
    final StringBuilder body = new StringBuilder("{\"receipt\":");
    Json.appendText(receipt, body);
    final Map<String, Long> refunded = new LinkedHashMap<>();
    for (final Map<?, ?> item : Json.objects(Wire.objectOf(post("refund", body.append('}'), "", retries, true)), "refunded")) {
      refunded.put(Json.text(item, "name"), zeroIfNull(Json.whole(item, "units")));
    }
    return refunded;
  }

  /** Frees slots: the number that were still held. Safe to repeat. Throws UnavailableException. */
  public long release(List<HoldToken> holds) {
    return postHolds("release", "released", holds);
  }

  /** Extends slots to the rule's {@code hold_ttl} from now. Throws CallException, {@code no_such_hold}, if one is gone. */
  public long renew(List<HoldToken> holds) {
    return postHolds("renew", "renewed", holds);
  }

  /** Whether Sluice did not answer lately, so that the fail mode decides at once. */
  public boolean breakerIsOpen() {
    return breaker.isOpen();
  }

  /** Closes the connections that no call uses now. Later calls open connections, and do not keep them. */
  @Override
  public void close() {
    closed = true;
    closeIdle();
  }

  private void closeIdle() {
    for (Connection connection = takeIdle(); connection != null; connection = takeIdle()) {
      connection.close();
    }
  }

  private static long zeroIfNull(Long value) {
    return value == null ? 0 : value;
  }

  private static String newKey() {
    final byte[] bytes = new byte[16];
    RANDOM.nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }

  private long postHolds(String verb, String member, List<HoldToken> holds) {
    final StringBuilder body = new StringBuilder();
    Wire.appendHolds(holds, body);
    return zeroIfNull(Json.whole(Wire.objectOf(post(verb, body, "", retries, true)), member));
  }

  private Connection.Response post(String verb, StringBuilder body, String key, int mostRetries, boolean repeatable) {
    final byte[] content = body.toString().getBytes(StandardCharsets.UTF_8);
    final StringBuilder head = new StringBuilder(256).append("POST ").append(server.path()).append("/v1/ratelimit/").append(verb)
        .append(" HTTP/1.1\r\nHost: ").append(server.authority()).append("\r\n").append(authorization);
    if (!key.isEmpty()) {
      head.append("Idempotency-Key: ").append(key).append("\r\n");
    }
    head.append("Content-Type: application/json\r\nContent-Length: ").append(content.length).append("\r\n\r\n");
    final byte[] request = new byte[head.length() + content.length];
    final byte[] start = head.toString().getBytes(StandardCharsets.ISO_8859_1);
    System.arraycopy(start, 0, request, 0, start.length);
    System.arraycopy(content, 0, request, start.length, content.length);
    return send(request, mostRetries, repeatable);
  }

  /** Throws UnavailableException when the breaker is open or the time is over. */
  private Connection.Response send(byte[] request, int mostRetries, boolean repeatable) {
    if (!breaker.allows()) {
      throw new UnavailableException("Sluice did not answer lately");
    }
    boolean ended = false;
    try {
      final Connection.Response response = attempts(request, mostRetries, repeatable);
      if (Wire.isNotOurs(response.status()) && !response.body().contains("\"allowed\"")) {
        breaker.failed();
      } else {
        breaker.succeeded();
      }
      ended = true;
      return response;
    } catch (IOException failed) {
      final String why = failed instanceof SocketTimeoutException ? "timed out" : String.valueOf(failed.getMessage());
      throw new UnavailableException(why, failed);
    } finally {
      if (!ended) {
        breaker.failed();
      }
    }
  }

  private Connection.Response attempts(byte[] request, int mostRetries, boolean repeatable) throws IOException {
    final long end = System.nanoTime() + timeout.toNanos();
    for (int left = repeatable ? mostRetries : 0;; --left) {
      // Each attempt has its part of the time, so that a lost packet leaves time for another.
      final long now = System.nanoTime();
      final long until = now + (end - now) / (left + 1);
      final Connection kept = takeIdle(now, repeatable);
      try {
        return exchange(kept == null ? new Connection(server, until) : kept, request, until);
      } catch (IOException failed) {
        if (kept != null && repeatable && kept.wasUnanswered() && !(failed instanceof SocketTimeoutException)) {
          closeIdle(); // The server closed it meanwhile, and likely the others: this attempt does not count.
          ++left;
        } else if (left == 0) {
          throw failed;
        }
        if (System.nanoTime() - end >= 0) {
          throw failed;
        }
      }
    }
  }

  private Connection.Response exchange(Connection connection, byte[] request, long until) throws IOException {
    boolean keep = false;
    try {
      final Connection.Response response = connection.exchange(request, until);
      keep = response.reusable() && !closed;
      if (keep && idleCount.incrementAndGet() > maxIdle) {
        idleCount.decrementAndGet();
        keep = false;
      }
      if (keep) {
        connection.idleSince = System.nanoTime();
        idle.addFirst(connection);
      }
      return response;
    } finally {
      if (!keep) {
        connection.close();
      }
    }
  }

  private Connection takeIdle() {
    final Connection connection = idle.pollFirst();
    if (connection != null) {
      idleCount.decrementAndGet();
    }
    return connection;
  }

  /** A socket does not say whether the other end closed it. A call that cannot be repeated takes one that was in use just now. */
  private Connection takeIdle(long now, boolean repeatable) {
    final Connection connection = takeIdle();
    if (connection != null && !repeatable && now - connection.idleSince > FRESH_NANOS) {
      connection.close();
      closeIdle(); // The last used is the first: the others were idle for longer.
      return null;
    }
    return connection;
  }

  /** The decision of the fail mode. */
  private Decision withoutSluice(String why) {
    final OptionalLong none = OptionalLong.empty();
    if (failOpen) {
      return new Decision(true, 200, "", none, none, Optional.empty(), Duration.ZERO, List.of(), List.of(), "", "", List.of(), why);
    }
    final Duration in = breaker.retryIn();
    final Duration retry = in.compareTo(Duration.ofSeconds(1)) < 0 ? Duration.ofSeconds(1) : in;
    return new Decision(false, 503, "sluice_unavailable", none, none, Optional.of(retry), Duration.ZERO, List.of(), List.of(), "", "",
        List.of(Map.entry("Retry-After", Long.toString((retry.toMillis() + 999) / 1000))), why);
  }

  /**
   * A third of the time that the slots have left. The answer says when all slots of the key are free again, in whole seconds, and a slot
   * just granted is the last to expire.
   */
  private Duration renewalInterval(Decision decision) {
    long first = Long.MAX_VALUE;
    for (final Limit limit : decision.limits()) {
      for (final HoldToken hold : decision.holds()) {
        if (hold.name().equals(limit.name()) && limit.resetAt().isPresent()) {
          first = Math.min(first, limit.resetAt().getAsLong());
        }
      }
    }
    final long leftMs = first == Long.MAX_VALUE ? 30_000 : (first - 1) * 1000 - clock.wallMs();
    return Duration.ofMillis(Math.max(100, leftMs / 3));
  }
}

package sluice.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;

/** The client against a real daemon, and against servers that do what no daemon does. Each test uses users of its own. */
final class ClientTest {
  private static final Duration LONG = Duration.ofSeconds(20); // Far above what any machine needs.
  private static int users;

  private final Checks checks;
  private final Daemon daemon;
  private final SluiceClient client;

  private ClientTest(Checks checks, Daemon daemon) {
    this.checks = checks;
    this.daemon = daemon;
    this.client = builder().build();
  }

  static void run(Checks checks) throws Exception {
    try (Daemon daemon = new Daemon(Daemon.RULES)) {
      final ClientTest test = new ClientTest(checks, daemon);
      test.decisions();
      test.costs();
      test.holds();
      test.wrongCalls();
      test.acquire();
      test.threads();
    }
    failModes(checks);
    notSluice(checks);
    connections(checks);
  }

  private SluiceClient.Builder builder() {
    return SluiceClient.builder().url(daemon.url).timeout(LONG);
  }

  private static Map<String, Object> userAt(String endpoint) {
    return Map.of("user_id", "u_" + ++users, "endpoint", endpoint);
  }

  private void decisions() {
    final Map<String, ?> user = userAt("/api");
    for (long left = 2; left >= 0; --left) {
      checks.same("remaining", OptionalLong.of(left), client.check(user).remaining());
    }
    final Decision denied = client.check(user);
    checks.same("status", 429, denied.status());
    checks.same("reason", "quota_exceeded", denied.reason());
    checks.holds("retryAfter", denied.retryAfter().get().toMillis() > 1_000_000 && denied.retryAfter().get().toMillis() <= 1_200_000);
    checks.holds("headers", denied.headers().stream().anyMatch(field -> field.getKey().equalsIgnoreCase("retry-after")));
    checks.holds(denied.why(), denied.why().startsWith("denied by api: quota_exceeded; again in "));
    checks.same("no rule", "allowed: no rule applies", client.check(Map.of("endpoint", "/other")).why());
    final Decision typed = client.check(Map.of("user_id", "\"\\\n\u0001é😀", "endpoint", "/api", "n", 3, "x", 0.5, "b", true));
    checks.same("attributes of every type", "allowed by api", typed.why());
    final Map<String, ?> other = userAt("/api");
    checks.holds("peek", client.check(other, CheckOptions.DEFAULT.peeking()).allowed());
    checks.same("status() charges nothing", OptionalLong.of(3), client.status(other, 3).remaining());
    checks.holds("status() of more than there is", !client.status(other, 4).allowed());
    final List<Decision> batch =
        client.checkMany(List.of(new BatchedCheck(other), new BatchedCheck(other, 3), new BatchedCheck(userAt("/never"))));
    checks.same("batch", List.of(true, false, false), batch.stream().map(Decision::allowed).toList());
    checks.same("empty batch", List.of(), client.checkMany(List.of()));
    final List<BatchedCheck> large = new ArrayList<>();
    for (int i = 0; i < 1000; ++i) {
      large.add(new BatchedCheck(Map.of("endpoint", "/other", "note", "x".repeat(100))));
    }
    checks.holds("a batch of 1,000", client.checkMany(large).stream().noneMatch(Decision::degraded));
  }

  private void costs() {
    final Map<String, ?> user = userAt("/api");
    final Decision charged = client.check(user, CheckOptions.ofCost(2).withReceipt());
    checks.same("refund", Map.of("api", 2L), client.refund(charged.receipt()));
    final CheckOptions keyed = CheckOptions.DEFAULT.withIdempotencyKey("java-client-test");
    checks.same("first", OptionalLong.of(2), client.check(user, keyed).remaining());
    checks.same("the same key again", OptionalLong.of(2), client.check(user, keyed).remaining());
    checks.same("charged once", OptionalLong.of(2), client.status(user).remaining());
    final Map<String, ?> model = userAt("/llm");
    try (Reservation reservation = client.reserve(model, 500)) {
      checks.same("estimate", OptionalLong.of(500), client.status(model).remaining());
      checks.same("settled", List.of(new Settled("tokens", 500, 120)), reservation.settle(120));
      checks.same("once", List.of(), reservation.settle(1));
    }
    try (Reservation reservation = client.reserve(model, 500)) {
      reservation.setCost(80);
    }
    checks.same("close() settles", OptionalLong.of(800), client.status(model).remaining());
    checks.raises("reserve", DeniedException.class, () -> client.reserve(userAt("/never"), 1));
  }

  private void holds() {
    final Map<String, ?> job = Map.of("tenant", "t_1", "endpoint", "/jobs");
    try (Hold hold = client.hold(job)) {
      checks.same("slots", 1, hold.decision().holds().size());
      checks.raises("hold", DeniedException.class, () -> client.hold(job));
      checks.holds("not lost", !hold.isLost());
    }
    checks.holds("released", client.status(job).allowed());
    try (Hold hold = client.hold(Map.of("tenant", "t_2", "endpoint", "/jobs"), CheckOptions.DEFAULT, Duration.ofMillis(1))) {
      while (hold.renewals() == 0) {
        Thread.onSpinWait();
      }
      checks.same("release", 1L, client.release(hold.decision().holds()));
      while (!hold.isLost()) {
        Thread.onSpinWait();
      }
    }
  }

  private void wrongCalls() {
    final Map<String, ?> user = userAt("/api");
    final CallException wrong = checks.raises("cost", CallException.class, () -> client.check(user, CheckOptions.ofCost(-1)));
    checks.holds("code", wrong != null && wrong.status() == 400 && !wrong.code().isEmpty());
    checks.raises("batch", CallException.class, () -> client.checkMany(List.of(new BatchedCheck(user, -1))));
    checks.raises("refund", CallException.class, () -> client.refund("nonsense"));
    checks.raises("attribute", IllegalArgumentException.class, () -> client.check(Map.of("n", List.of())));
    checks.raises("not a number", IllegalArgumentException.class, () -> client.check(Map.of("n", Double.NaN)));
    checks.raises("key", IllegalArgumentException.class, () -> CheckOptions.DEFAULT.withIdempotencyKey("a\r\nX: y"));
    checks.raises("token", IllegalArgumentException.class, () -> SluiceClient.builder().token("a\nb").build());
    checks.raises("half a pair", CallException.class, () -> client.check(Map.of("user_id", "\ud800", "endpoint", "/api")));
    for (final String url : List.of("https://127.0.0.1", "127.0.0.1:8080", "http://", "http://host:port", "http://a b", "http://u@h")) {
      checks.raises(url, IllegalArgumentException.class, () -> SluiceClient.builder().url(url).build());
    }
    checks.holds("enter() does not throw", client.enter(user, CheckOptions.ofCost(-1)).decision().degraded());
  }

  private void acquire() throws Exception {
    final FakeClock clock = new FakeClock(); // The daemon's clock goes on: the second attempt may come too early for it.
    final SluiceClient patient = builder().clock(clock).policy(Policy.DEFAULT.withMaxAttempts(1_000_000)).build();
    final Map<String, ?> quick = userAt("/quick");
    checks.holds("first", patient.check(quick).allowed());
    checks.holds("acquired", patient.acquire(quick, CheckOptions.DEFAULT, null).allowed());
    checks.holds("waits as long as the daemon says: " + clock.slept, clock.slept.stream().allMatch(ms -> ms <= 50));
    final FakeClock still = new FakeClock();
    final SluiceClient hurried = builder().clock(still).policy(Policy.DEFAULT.withCap(Duration.ofHours(3))).build();
    final Map<String, ?> user = userAt("/api");
    hurried.check(user, CheckOptions.ofCost(3));
    checks.raises("deadline", DeniedException.class, () -> hurried.acquire(user, CheckOptions.DEFAULT, Duration.ofMinutes(1)));
    checks.same("does not begin to wait", List.of(), still.slept);
  }

  private void threads() throws Exception {
    final Map<String, ?> user = userAt("/api");
    final AtomicInteger allowed = new AtomicInteger();
    final List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 8; ++i) {
      threads.add(new Thread(() -> {
        Thread.currentThread().interrupt(); // An interrupted thread is answered, too.
        for (int k = 0; k < 20; ++k) {
          allowed.addAndGet(client.check(user).allowed() ? 1 : 0);
        }
      }));
      threads.get(i).start();
    }
    for (final Thread thread : threads) {
      thread.join();
    }
    checks.same("threads share one client", 3, allowed.get());
  }

  private static SluiceClient.Builder at(AnswerServer server, Duration timeout) {
    return SluiceClient.builder().url(server.url).timeout(timeout);
  }

  private static void failModes(Checks checks) throws Exception {
    final Map<String, ?> user = userAt("/api");
    try (AnswerServer silent = new AnswerServer(false, AnswerServer.SILENCE)) {
      final Decision open = at(silent, Duration.ofMillis(50)).build().check(user);
      checks.same("open", "allowed without Sluice: timed out", open.why());
      final SluiceClient closed = at(silent, Duration.ofMillis(50)).failClosed().build();
      final Decision denied = closed.check(user);
      checks.same("closed", "503 sluice_unavailable", denied.status() + " " + denied.reason());
      checks.same("closed: headers", "Retry-After", denied.headers().get(0).getKey());
      checks.raises("status()", UnavailableException.class, () -> closed.status(user));
      final FakeClock clock = new FakeClock();
      final SluiceClient client = at(silent, Duration.ofMillis(50)).clock(clock).retries(0).breaker(2, Duration.ofSeconds(1)).build();
      final String away = "Sluice did not answer lately";
      checks.same("call 1", "timed out", client.check(user).unavailable());
      checks.same("call 2", "timed out", client.check(user).unavailable());
      checks.holds("the breaker is open", client.breakerIsOpen());
      checks.same("call 3", away, client.check(user).unavailable());
      clock.sleep(Duration.ofSeconds(1));
      checks.same("one tries", "timed out", client.check(user).unavailable());
      checks.same("call 5", away, client.check(user).unavailable());
    }
  }

  private static void notSluice(Checks checks) throws Exception {
    for (final String answer : List.of("", "nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", AnswerServer.http(200, "[]"), AnswerServer.http(502, ""),
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "HTTP/1.1 20", "HTTP/1.1\r\n\r\n", "\r\n\r\n")) {
      try (AnswerServer server = new AnswerServer(false, answer)) {
        checks.holds("degraded: " + answer, at(server, LONG).build().check(userAt("/api")).degraded());
      }
    }
    final String chunks = "4\r\n{\"al\r\n11;x=y\r\nlowed\": true, \"li\r\nc\r\nmits\": []}  \r\n0\r\n\r\n";
    for (final String answer : List.of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks,
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n{\"allowed\": true, \"limits\": []}")) {
      try (AnswerServer server = new AnswerServer(false, answer)) {
        checks.same("read: " + answer, "allowed: no rule applies", at(server, LONG).failClosed().build().check(userAt("/api")).why());
      }
    }
  }

  private static void connections(Checks checks) throws Exception {
    final Map<String, ?> user = userAt("/api");
    try (AnswerServer closing = new AnswerServer(false, "")) {
      checks.holds("degraded", at(closing, LONG).retries(2).build().check(user).degraded());
      checks.same("a check is sent again", 3, closing.requests.size());
      final var keys = closing.requests.stream().map(head -> head.replaceAll("(?s).*Idempotency-Key: (\\w+).*", "$1")).distinct().toList();
      checks.holds("with the same key: " + keys, keys.size() == 1 && keys.get(0).length() == 32);
    }
    final String allowed = AnswerServer.http(200, "{\"allowed\": true, \"limits\": []}");
    try (AnswerServer server = new AnswerServer(true, allowed)) {
      final SluiceClient client = at(server, LONG).retries(1).failClosed().build();
      for (int i = 0; i < 3; ++i) {
        checks.holds("kept", client.check(user).allowed());
        server.closeConnections(); // A closed connection is no failure of the call.
      }
    }
  }
}

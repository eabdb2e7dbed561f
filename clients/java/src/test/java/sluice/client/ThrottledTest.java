package sluice.client;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;

/** ThrottledHttpClient against servers that limit rates. */
final class ThrottledTest {
  private ThrottledTest() {}

  private static HttpRequest.Builder to(AnswerServer server, String path) {
    return HttpRequest.newBuilder(URI.create(server.url + path));
  }

  static void run(Checks checks) throws Exception {
    final String good = AnswerServer.http(200, "good");
    try (AnswerServer server = new AnswerServer(true, AnswerServer.http(429, "slow", "Retry-After: 7"), good)) {
      final FakeClock clock = new FakeClock();
      final HttpClient client = client(clock, Policy.DEFAULT);
      checks.same("sent again", "good", client.send(to(server, "/a").build(), BodyHandlers.ofString()).body());
      checks.same("after", List.of(7000L), clock.slept);
      checks.same("times", 2, server.requests.size());
    }
    try (AnswerServer server = new AnswerServer(true, AnswerServer.http(429, "slow", "Retry-After: 3600"), good)) {
      final FakeClock clock = new FakeClock();
      final HttpClient client = client(clock, Policy.DEFAULT);
      final HttpResponse<String> response = client.send(to(server, "/a").build(), BodyHandlers.ofString());
      checks.same("above the cap: the 429 with its body", "429 slow", response.statusCode() + " " + response.body());
      final ThrottledException held = checks.raises("above the cap", ThrottledException.class,
          () -> client.send(to(server, "/a").build(), BodyHandlers.ofString()));
      checks.holds("held for", held != null && held.retryAfter().equals(Duration.ofHours(1)));
      checks.same("another resource", 200, client.send(to(server, "/b").build(), BodyHandlers.ofString()).statusCode());
      checks.same("nothing waited", List.of(), clock.slept);
    }
    try (AnswerServer server = new AnswerServer(true, AnswerServer.http(200, "x", "RateLimit: \"a\";r=2;t=30"))) {
      final FakeClock clock = new FakeClock();
      final HttpClient client = client(clock, Policy.DEFAULT.withHeadroom(1));
      client.send(to(server, "/a").build(), BodyHandlers.discarding());
      client.send(to(server, "/a").build(), BodyHandlers.discarding());
      checks.same("sent while units are left", List.of(), clock.slept);
    }
    try (AnswerServer server = new AnswerServer(true, AnswerServer.http(200, "x", "RateLimit: \"a\";r=1;t=30"), good)) {
      final FakeClock clock = new FakeClock();
      final HttpClient client = client(clock, Policy.DEFAULT.withHeadroom(1));
      client.send(to(server, "/a").build(), BodyHandlers.discarding());
      checks.raises("the deadline wins", ThrottledException.class,
          () -> client.send(to(server, "/a").timeout(Duration.ofSeconds(20)).build(), BodyHandlers.discarding()));
      client.send(to(server, "/a").timeout(Duration.ofMinutes(1)).build(), BodyHandlers.discarding());
      checks.same("waits before it sends, with headroom", List.of(30_000L), clock.slept);
    }
    final String shared = AnswerServer.http(200, "x", "X-RateLimit-Bucket: b", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset-After: 5");
    try (AnswerServer server =
        new AnswerServer(true, AnswerServer.http(200, "x", "X-RateLimit-Bucket: b", "X-RateLimit-Remaining: 9"), shared, good)) {
      final FakeClock clock = new FakeClock();
      final HttpClient client = client(clock, Policy.DEFAULT);
      client.send(to(server, "/a").build(), BodyHandlers.discarding());
      client.send(to(server, "/b").build(), BodyHandlers.discarding());
      client.send(to(server, "/a").build(), BodyHandlers.discarding());
      checks.same("a bucket that the server names is shared", List.of(5000L), clock.slept);
    }
    try (AnswerServer server = new AnswerServer(true, AnswerServer.http(503, "x", "Retry-After: 1"), good)) {
      final HttpClient client = client(new FakeClock(), Policy.DEFAULT);
      final var body = HttpRequest.BodyPublishers.ofString("{}");
      checks.same("a POST is not repeated", 503, client.send(to(server, "/a").POST(body).build(), BodyHandlers.ofString()).statusCode());
    }
    try (AnswerServer server = new AnswerServer(true, AnswerServer.http(503, "x", "Retry-After: 1"), good)) {
      final HttpClient client = client(new FakeClock(), Policy.DEFAULT);
      final var post = to(server, "/a").header("Idempotency-Key", "k").POST(HttpRequest.BodyPublishers.ofString("{}")).build();
      checks.same("with a key it is", 200, client.send(post, BodyHandlers.ofString()).statusCode());
    }
    final String large = "x".repeat(300_000);
    try (AnswerServer server = new AnswerServer(true, AnswerServer.http(429, large, "x-should-retry: false"))) {
      final HttpClient client = client(new FakeClock(), Policy.DEFAULT);
      checks.same("a large body", large, client.send(to(server, "/a").build(), BodyHandlers.ofString()).body());
      try (var stream = client.send(to(server, "/b").build(), BodyHandlers.ofInputStream()).body()) {
        checks.same("as a stream", large.length(), stream.readAllBytes().length);
      }
    }
    final String secondary = "{\"message\": \"You have exceeded a secondary rate limit.\"}";
    try (AnswerServer server = new AnswerServer(true, AnswerServer.http(403, secondary), good)) {
      final FakeClock clock = new FakeClock();
      client(clock, Policy.DEFAULT).send(to(server, "/a").build(), BodyHandlers.ofString());
      checks.same("the body of a 403 is read", List.of(60_000L), clock.slept);
    }
    try (AnswerServer server = new AnswerServer(true, AnswerServer.http(429, "", "retry-after-ms: 1"), good)) {
      final HttpClient client = client(Clock.SYSTEM, Policy.DEFAULT);
      checks.same("asynchronously", "good", client.sendAsync(to(server, "/a").build(), BodyHandlers.ofString()).get().body());
    }
    try (AnswerServer server = new AnswerServer(false, "")) {
      final HttpClient client = client(new FakeClock(), Policy.DEFAULT);
      checks.raises("what fails on the way", java.io.IOException.class,
          () -> client.send(to(server, "/a").build(), BodyHandlers.ofString()));
      checks.raises("also asynchronously", ExecutionException.class,
          () -> client.sendAsync(to(server, "/a").build(), BodyHandlers.ofString()).get());
    }
  }

  private static HttpClient client(Clock clock, Policy policy) {
    final HttpClient base = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    return new ThrottledHttpClient(base, new Throttle(policy, clock), ThrottledHttpClient::hostAndPath);
  }
}

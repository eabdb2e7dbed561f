package sluice.client;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Plays clients/vectors: every case, to the millisecond. */
final class VectorsTest {
  private static final int CASES = 251;

  private VectorsTest() {}

  static void run(Checks checks) throws Exception {
    int played = 0;
    final List<Path> files;
    try (var listed = Files.list(Path.of(System.getProperty("vectors")))) {
      files = listed.filter(path -> path.toString().endsWith(".json")).sorted().toList();
    }
    for (final Path file : files) {
      for (final Map<?, ?> each : Json.objects((Map<?, ?>) Json.read(Files.readString(file)), "cases")) {
        play(checks, file.getFileName() + ": " + each.get("name"), each);
        ++played;
      }
    }
    checks.same("cases played", CASES, played);
  }

  private static void play(Checks checks, String name, Map<?, ?> each) {
    final Map<?, ?> response = (Map<?, ?>) each.get("response");
    final Map<?, ?> call = (Map<?, ?>) each.get("call");
    final Map<?, ?> expect = (Map<?, ?>) each.get("expect");
    final List<Map.Entry<String, String>> fields = new ArrayList<>();
    for (final Object pair : (List<?>) response.get("fields")) {
      fields.add(Map.entry((String) ((List<?>) pair).get(0), (String) ((List<?>) pair).get(1)));
    }
    final String body = response.get("body") == null ? "" : (String) response.get("body");
    final Long left = Json.whole(call, "deadline_ms");
    final Caller caller = new Caller(Json.whole(call, "now_ms"), Json.text(call, "method"), Json.isTrue(call, "idempotency_key"),
        Json.whole(call, "attempt").intValue(), left == null ? null : Duration.ofMillis(left));
    final Policy policy = new Policy(Json.whole(call, "max_attempts").intValue(), Duration.ofMillis(Json.whole(call, "cap_ms")),
        Duration.ofMillis(Json.whole(call, "base_ms")), Json.whole(call, "jitter_percent") / 100.0, Json.whole(call, "headroom"));
    final Advice advice = Advise.of(new Answer(Json.whole(response, "status").intValue(), fields, body), caller, policy);
    checks.same(name + ": action", expect.get("action"), advice.action().name().toLowerCase(java.util.Locale.ROOT));
    checks.same(name + ": reason", expect.get("reason"), advice.reason());
    checks.same(name + ": source", expect.get("source"), advice.source());
    final List<Long> wait = advice.action() == Advice.Action.WAIT ? List.of(advice.delay(0).toMillis(), advice.delay(1).toMillis()) : null;
    checks.same(name + ": wait_ms", expect.get("wait_ms"), wait);
    checks.same(name + ": hold_ms", expect.get("hold_ms"), advice.hold().toMillis());
    checks.same(name + ": bucket", expect.get("bucket"), advice.bucket());
    checks.same(name + ": global", expect.get("global"), advice.everywhere());
  }
}

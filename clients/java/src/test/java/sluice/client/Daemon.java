package sluice.client;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** A daemon of the binary that the environment variable SLUICE names, on a free port. */
final class Daemon implements AutoCloseable {
  static final String RULES = """
      rules:
        - {id: api, match: {endpoint: /api}, key_pattern: "user:{user_id}", algorithm: token_bucket, rate: 3, window: 1h, burst: 3}
        - {id: quick, match: {endpoint: /quick}, key_pattern: "user:{user_id}", algorithm: token_bucket, rate: 1, window: 50ms, burst: 1}
        - {id: jobs, match: {endpoint: /jobs}, key_pattern: "tenant:{tenant}", algorithm: concurrency, limit: 1, hold_ttl: 10s}
        - {id: tokens, match: {endpoint: /llm}, key_pattern: "user:{user_id}", algorithm: token_bucket, rate: 1000, window: 30d, burst: 1000}
        - {id: never, match: {endpoint: /never}, key_pattern: "user:{user_id}", algorithm: fixed_window, limit: 0, window: 1m}
      """;

  final String url;
  private final Path folder;
  private final Process process;

  Daemon(String rules) throws Exception {
    folder = Files.createTempDirectory("sluice_client");
    Files.writeString(folder.resolve("rules.yaml"), rules);
    Files.writeString(folder.resolve("sluice.yaml"),
        "listeners: [{address: \"127.0.0.1:0\"}]\ntable: {keys: 1000}\nrule_sources: [{files: [rules.yaml]}]\n");
    process = new ProcessBuilder(System.getenv("SLUICE"), "serve", "--config", "sluice.yaml").directory(folder.toFile())
        .redirectError(folder.resolve("log").toFile()).start();
    final BufferedReader greeting = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    String found = null;
    for (String line = greeting.readLine(); line != null && found == null; line = found == null ? greeting.readLine() : line) {
      found = line.startsWith("  checks ") ? line.trim().split(" +")[1] : null;
    }
    if (found == null) {
      throw new IllegalStateException("the daemon did not start: " + Files.readString(folder.resolve("log")));
    }
    url = found;
  }

  @Override
  public void close() throws IOException {
    process.destroyForcibly().onExit().join();
    try (var files = Files.walk(folder)) {
      for (final Path path : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }
}

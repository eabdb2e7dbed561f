package sluice.client;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.ByteArrayOutputStream;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sluice.client.servlet.SluiceFilter;

/** The servlet filter against a real daemon, with a request and a response that note what is done to them. */
final class FilterTest {
  private final Map<String, Object> attributes = new HashMap<>();
  private final Map<String, String> headers = new HashMap<>();
  private final ByteArrayOutputStream body = new ByteArrayOutputStream();
  private final List<AsyncListener> listeners = new ArrayList<>();
  private final boolean isAsync;
  private int status = 200;
  private boolean passed;

  private FilterTest(boolean isAsync) {
    this.isAsync = isAsync;
  }

  private static <T> T fake(Class<T> type, java.util.function.BiFunction<String, Object[], Object> answer) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type},
        (self, method, arguments) -> answer.apply(method.getName(), arguments)));
  }

  private Object onRequest(String method, Object[] with) {
    return switch (method) {
      case "getAttribute" -> attributes.get(with[0]);
      case "setAttribute" -> attributes.put((String) with[0], with[1]);
      case "isAsyncStarted" -> isAsync;
      case "getAsyncContext" -> fake(AsyncContext.class, (name, listener) -> name.equals("addListener") && listeners.add((AsyncListener) listener[0]) ? null : null);
      case "getRemoteAddr" -> "10.0.0.1";
      case "getMethod" -> "GET";
      case "getRequestURI" -> "/never";
      default -> throw new IllegalStateException(method);
    };
  }

  private Object onResponse(String method, Object[] with) {
    switch (method) {
      case "setStatus" -> status = (int) with[0];
      case "setContentLength" -> headers.put("content-length", "" + with[0]);
      case "setContentType" -> headers.put("content-type", (String) with[0]);
      case "setHeader" -> headers.put(((String) with[0]).toLowerCase(java.util.Locale.ROOT), (String) with[1]);
      case "getOutputStream" -> {
        return new ServletOutputStream() {
          @Override
          public boolean isReady() {
            return true;
          }

          @Override
          public void setWriteListener(WriteListener listener) {}

          @Override
          public void write(int b) {
            body.write(b);
          }
        };
      }
      default -> throw new IllegalStateException(method);
    }
    return null;
  }

  private static FilterTest pass(SluiceFilter filter, boolean isAsync, FilterChain next) throws Exception {
    final FilterTest test = new FilterTest(isAsync);
    final HttpServletRequest request = fake(HttpServletRequest.class, test::onRequest);
    final HttpServletResponse response = fake(HttpServletResponse.class, test::onResponse);
    filter.doFilter(request, response, (to, answer) -> {
      test.passed = true;
      next.doFilter(to, answer);
    });
    return test;
  }

  static void run(Checks checks) throws Exception {
    final FilterChain nothing = (request, response) -> {};
    try (Daemon daemon = new Daemon(Daemon.RULES)) {
      final SluiceClient client = SluiceClient.builder().url(daemon.url).timeout(Duration.ofSeconds(20)).build();
      final SluiceFilter api = new SluiceFilter(client, request -> Map.of("user_id", "u_f", "endpoint", "/api"), CheckOptions.ofCost(3));
      final FilterTest allowed = pass(api, false, nothing);
      checks.holds("passed on", allowed.passed);
      checks.holds("with the limit fields: " + allowed.headers, allowed.headers.containsKey("x-ratelimit-remaining"));
      checks.holds("and the decision", allowed.attributes.get(SluiceFilter.DECISION) instanceof Decision);
      final FilterTest denied = pass(api, false, nothing);
      checks.same("denied", "false 429", denied.passed + " " + denied.status);
      checks.same("problem", "{\"type\":\"about:blank\",\"title\":\"Too Many Requests\",\"status\":429,\"reason\":\"quota_exceeded\"}",
          denied.body.toString());
      checks.holds("Retry-After", Integer.parseInt(denied.headers.get("retry-after")) > 1000);
      checks.same("type", "application/problem+json", denied.headers.get("content-type"));
      checks.holds("not limited", pass(new SluiceFilter(client, request -> null, CheckOptions.DEFAULT), false, nothing).passed);
      final Map<String, ?> job = Map.of("tenant", "t_f", "endpoint", "/jobs");
      final SluiceFilter jobs = new SluiceFilter(client, request -> job, CheckOptions.DEFAULT);
      pass(jobs, false, (request, response) -> checks.holds("held until the end", !client.status(job).allowed()));
      checks.holds("then released", client.status(job).allowed());
      checks.raises("failing", IllegalStateException.class, () -> pass(jobs, false, (request, response) -> {
        throw new IllegalStateException();
      }));
      checks.holds("released after a failure", client.status(job).allowed());
      final FilterTest async = pass(jobs, true, nothing);
      checks.holds("held while asynchronous", !client.status(job).allowed());
      async.listeners.get(0).onComplete(null);
      checks.holds("released when complete", client.status(job).allowed());
      final Map<String, Object> wrong = new HashMap<>();
      wrong.put("user_id", null);
      checks.holds("a wrong call passes", pass(new SluiceFilter(client, request -> wrong, CheckOptions.DEFAULT), false, nothing).passed);
    }
    final SluiceClient away = SluiceClient.builder().url("http://127.0.0.1:1").failClosed().build();
    checks.same("closed", 503, pass(new SluiceFilter(away), false, nothing).status);
  }
}

package sluice.client;

import java.io.IOException;
import java.net.Authenticator;
import java.net.CookieHandler;
import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpResponse.PushPromiseHandler;
import java.net.http.WebSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSession;

/**
 * An HttpClient that keeps to the limits of the servers it talks to: it waits before it sends where a quota is used up, and after a 429 as
 * long as the server says.
 *
 * <p>The request's timeout is its deadline with all waits: a wait that does not fit is not begun. Then the 429 is the result, or a {@link
 * ThrottledException} if the request was not sent. A body is sent again by subscribing to its publisher again. After a 503 a request is
 * sent again only if its method is idempotent or it has an Idempotency-Key. Safe from any thread.
 */
public final class ThrottledHttpClient extends HttpClient {
  private final HttpClient base;
  private final Throttle throttle;
  private final Function<HttpRequest, String> resource;

  /** With the default policy; host and path have a quota of their own. */
  public ThrottledHttpClient(HttpClient base) {
    this(base, new Throttle(Policy.DEFAULT), ThrottledHttpClient::hostAndPath);
  }

  /** {@code resource} names what has a quota of its own. Share a throttle to share what is known. */
  public ThrottledHttpClient(HttpClient base, Throttle throttle, Function<HttpRequest, String> resource) {
    this.base = base;
    this.throttle = throttle;
    this.resource = resource;
  }

  /** The resource of a request, without the query. */
  public static String hostAndPath(HttpRequest request) {
    return host(request) + request.uri().getRawPath();
  }

  /** For servers with one quota for everything. */
  public static String host(HttpRequest request) {
    return request.uri().getRawAuthority();
  }

  /** One request, from before it is first sent until its last response. */
  private final class Sending<T> {
    private final HttpRequest request;
    private final BodyHandler<T> handler;
    private final String host;
    private final String name;
    private final long from = throttle.clock.nanos();
    private Throttle.Bucket bucket;
    private int attempt;

    Sending(HttpRequest request, BodyHandler<T> handler) {
      this.request = request;
      this.handler = handler;
      this.host = host(request);
      this.name = resource.apply(request);
    }

    /** That the deadline leaves; null for ever. */
    Duration left() {
      return request.timeout().map(timeout -> timeout.minusNanos(throttle.clock.nanos() - from)).orElse(null);
    }

    /** How long to wait; zero if the request may be sent now, and then it counts as under way. */
    Duration before() throws ThrottledException {
      final Throttle.Entry entry = throttle.enter(host, name);
      if (entry.time().isZero()) {
        bucket = entry.bucket();
        ++attempt;
        return Duration.ZERO;
      }
      final Duration left = left();
      if (entry.time().compareTo(throttle.policy.cap()) > 0) {
        throw new ThrottledException(name, entry.time(), entry.why(), "cap");
      }
      if (left != null && entry.time().compareTo(left) >= 0) {
        throw new ThrottledException(name, entry.time(), entry.why(), "deadline");
      }
      final Duration extended = entry.time().plusMillis(
          (long) (entry.time().toMillis() * throttle.policy.jitter() * throttle.clock.random()));
      return left != null && extended.compareTo(left) > 0 ? left : extended;
    }

    /** With what the deadline leaves as its timeout. */
    HttpRequest next() {
      final Duration left = left();
      final Duration least = Duration.ofMillis(1);
      return left == null || attempt == 1 && left.equals(request.timeout().get()) ? request
          : HttpRequest.newBuilder(request, (field, value) -> true).timeout(left.compareTo(least) < 0 ? least : left).build();
    }

    BodyHandler<PeekingBody.Peeked<T>> peeking() {
      return info -> info.statusCode() == 403 || info.statusCode() == 429 || info.statusCode() == 503
          ? new PeekingBody<>(() -> handler.apply(info))
          : BodySubscribers.mapping(handler.apply(info),
              body -> new PeekingBody.Peeked<>("", () -> CompletableFuture.completedFuture(body), () -> {}));
    }

    /** How long to wait before it is sent again; null if the response is the result. */
    Duration after(HttpResponse<PeekingBody.Peeked<T>> response) {
      final List<Map.Entry<String, String>> fields = new ArrayList<>();
      response.headers().map().forEach((field, values) -> values.forEach(value -> fields.add(Map.entry(field, value))));
      final boolean key = request.headers().firstValue("Idempotency-Key").isPresent();
      final Advice advice = Advise.of(new Answer(response.statusCode(), fields, response.body() == null ? "" : response.body().beginning()),
          new Caller(throttle.clock.wallMs(), request.method(), key, attempt, left()), throttle.policy);
      leave(advice);
      if (advice.action() != Advice.Action.WAIT) {
        return null;
      }
      response.body().drop().run();
      return advice.delay(throttle.clock.random());
    }

    /** Null: there was no response. Does nothing the second time. */
    void leave(Advice advice) {
      if (bucket != null) {
        throttle.leave(bucket, host, name, advice);
        bucket = null;
      }
    }
  }

  @Override
  public <T> HttpResponse<T> send(HttpRequest request, BodyHandler<T> handler) throws IOException, InterruptedException {
    final Sending<T> sending = new Sending<>(request, handler);
    while (true) {
      for (Duration wait = sending.before(); !wait.isZero(); wait = sending.before()) {
        throttle.clock.sleep(wait);
      }
      final HttpResponse<PeekingBody.Peeked<T>> response;
      final Duration wait;
      try {
        response = base.send(sending.next(), sending.peeking());
        wait = sending.after(response);
      } finally {
        sending.leave(null);
      }
      if (wait == null) {
        return new Result<>(response, bodyOf(response));
      }
      throttle.clock.sleep(wait);
    }
  }

  private static <T> T bodyOf(HttpResponse<PeekingBody.Peeked<T>> response) throws IOException, InterruptedException {
    try {
      return response.body().body().get().toCompletableFuture().get();
    } catch (ExecutionException failed) {
      throw failed.getCause() instanceof IOException io ? io : new IOException(failed.getCause());
    }
  }

  @Override
  public <T> CompletableFuture<HttpResponse<T>> sendAsync(HttpRequest request, BodyHandler<T> handler) {
    return sendAsync(request, handler, null);
  }

  /** Waits hold no thread. */
  @Override
  public <T> CompletableFuture<HttpResponse<T>> sendAsync(HttpRequest request, BodyHandler<T> handler, PushPromiseHandler<T> push) {
    if (push != null) {
      throw new UnsupportedOperationException("a throttled client takes no push promises");
    }
    return attempt(new Sending<>(request, handler)).toCompletableFuture();
  }

  private <T> CompletionStage<HttpResponse<T>> attempt(Sending<T> sending) {
    final Duration wait;
    try {
      wait = sending.before();
    } catch (ThrottledException held) {
      return CompletableFuture.failedStage(held);
    }
    if (!wait.isZero()) {
      return later(wait).thenCompose(now -> attempt(sending));
    }
    final CompletableFuture<HttpResponse<PeekingBody.Peeked<T>>> sent;
    try {
      sent = base.sendAsync(sending.next(), sending.peeking());
    } catch (RuntimeException wrong) {
      sending.leave(null);
      throw wrong;
    }
    return sent.handle((response, failed) -> {
      if (failed != null) {
        sending.leave(null);
        throw failed instanceof CompletionException known ? known : new CompletionException(failed);
      }
      return response;
    }).thenCompose(response -> {
      final Duration again = sending.after(response);
      return again != null ? later(again).thenCompose(now -> attempt(sending))
          : response.body().body().get().thenApply(body -> new Result<>(response, body));
    });
  }

  private CompletableFuture<Void> later(Duration wait) {
    return CompletableFuture.runAsync(() -> {}, CompletableFuture.delayedExecutor(wait.toMillis(), TimeUnit.MILLISECONDS));
  }

  /** The response with the caller's body. */
  private record Result<T>(HttpResponse<?> of, T body) implements HttpResponse<T> {
    @Override
    public int statusCode() {
      return of.statusCode();
    }

    @Override
    public HttpRequest request() {
      return of.request();
    }

    @Override
    public Optional<HttpResponse<T>> previousResponse() {
      return of.previousResponse().map(previous -> new Result<>(previous, null)); // It has no body.
    }

    @Override
    public HttpHeaders headers() {
      return of.headers();
    }

    @Override
    public Optional<SSLSession> sslSession() {
      return of.sslSession();
    }

    @Override
    public URI uri() {
      return of.uri();
    }

    @Override
    public HttpClient.Version version() {
      return of.version();
    }
  }

  @Override
  public Optional<CookieHandler> cookieHandler() {
    return base.cookieHandler();
  }

  @Override
  public Optional<Duration> connectTimeout() {
    return base.connectTimeout();
  }

  @Override
  public Redirect followRedirects() {
    return base.followRedirects();
  }

  @Override
  public Optional<ProxySelector> proxy() {
    return base.proxy();
  }

  @Override
  public SSLContext sslContext() {
    return base.sslContext();
  }

  @Override
  public SSLParameters sslParameters() {
    return base.sslParameters();
  }

  @Override
  public Optional<Authenticator> authenticator() {
    return base.authenticator();
  }

  @Override
  public Version version() {
    return base.version();
  }

  @Override
  public Optional<Executor> executor() {
    return base.executor();
  }

  @Override
  public WebSocket.Builder newWebSocketBuilder() {
    return base.newWebSocketBuilder();
  }
}

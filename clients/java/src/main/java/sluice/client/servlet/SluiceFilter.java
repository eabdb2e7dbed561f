package sluice.client.servlet;

import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import sluice.client.CheckOptions;
import sluice.client.Decision;
import sluice.client.Hold;
import sluice.client.SluiceClient;

/**
 * Asks Sluice before each request. A denied one is answered here, with 429, 403 or 503, Retry-After, the rate limit fields and a problem
 * document (RFC 9457). Responses of allowed requests get the rate limit fields. Slots of concurrency rules are held, and renewed, until the
 * response ends, also of asynchronous requests. A call that is wrong is logged, and the fail mode decides.
 */
public final class SluiceFilter implements Filter {
  /** The attribute of a request that has its {@link Decision}. */
  public static final String DECISION = "sluice.decision";

  private final SluiceClient client;
  private final Function<HttpServletRequest, Map<String, ?>> attributes;
  private final CheckOptions options;

  /** With {@link #attributesOf}. */
  public SluiceFilter(SluiceClient client) {
    this(client, SluiceFilter::attributesOf, CheckOptions.DEFAULT);
  }

  /**
   * With attributes of your own.
   *
   * @param attributes of a request; null for one that is not limited. Only use what you have verified
   * @param options of each check
   */
  public SluiceFilter(SluiceClient client, Function<HttpServletRequest, Map<String, ?>> attributes, CheckOptions options) {
    this.client = client;
    this.attributes = attributes;
    this.options = options;
  }

  /** {@code ip}, {@code method} and {@code endpoint} (the path). Behind a proxy, {@code ip} is the proxy's address. */
  public static Map<String, ?> attributesOf(HttpServletRequest request) {
    return Map.of("ip", request.getRemoteAddr(), "method", request.getMethod(), "endpoint", request.getRequestURI());
  }

  @Override
  public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain) throws IOException, ServletException {
    if (!(request instanceof HttpServletRequest http) || !(response instanceof HttpServletResponse answer)
        || request.getAttribute(DECISION) != null) { // An asynchronous request is dispatched again: it was judged before.
      chain.doFilter(request, response);
      return;
    }
    final Map<String, ?> of = attributes.apply(http);
    if (of == null) {
      chain.doFilter(request, response);
      return;
    }
    final Hold hold = client.enter(of, options);
    boolean later = false;
    try {
      final Decision decision = hold.decision();
      copyHeaders(decision, answer);
      if (!decision.allowed()) {
        writeDenial(decision, answer);
        return;
      }
      request.setAttribute(DECISION, decision);
      chain.doFilter(request, response);
      if (request.isAsyncStarted()) {
        request.getAsyncContext().addListener(new AtEnd(hold));
        later = true;
      }
    } finally {
      if (!later) {
        hold.close();
      }
    }
  }

  private static void copyHeaders(Decision decision, HttpServletResponse answer) {
    final Set<String> set = new HashSet<>();
    for (final Map.Entry<String, String> field : decision.headers()) {
      if (set.add(field.getKey().toLowerCase(Locale.ROOT))) {
        answer.setHeader(field.getKey(), field.getValue());
      } else {
        answer.addHeader(field.getKey(), field.getValue());
      }
    }
  }

  /** The rules' names are not in it, other than in the limit fields. */
  private static void writeDenial(Decision decision, HttpServletResponse answer) throws IOException {
    final String title = switch (decision.status()) {
      case 403 -> "Forbidden";
      case 503 -> "Service Unavailable";
      default -> "Too Many Requests";
    };
    final String reason = decision.reason().matches("[a-z_]+") ? ",\"reason\":\"" + decision.reason() + "\"" : "";
    final byte[] body = ("{\"type\":\"about:blank\",\"title\":\"" + title + "\",\"status\":" + decision.status() + reason + "}")
        .getBytes(java.nio.charset.StandardCharsets.UTF_8);
    answer.setStatus(decision.status());
    answer.setContentType("application/problem+json");
    answer.setContentLength(body.length);
    answer.setHeader("Cache-Control", "no-store");
    answer.getOutputStream().write(body);
  }

  /** Frees the slots at the end of an asynchronous response. */
  private record AtEnd(Hold hold) implements AsyncListener {
    @Override
    public void onComplete(AsyncEvent event) {
      hold.close();
    }

    @Override
    public void onTimeout(AsyncEvent event) {} // onComplete follows.

    @Override
    public void onError(AsyncEvent event) {} // onComplete follows.

    @Override
    public void onStartAsync(AsyncEvent event) {
      event.getAsyncContext().addListener(this); // Listeners do not outlive a second start.
    }
  }
}

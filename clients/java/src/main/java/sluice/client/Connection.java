package sluice.client;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** One connection that carries one request at a time. A java.net.Socket: unlike a channel, it outlives the interruption of its thread. */
final class Connection {
  private static final int MOST_HEAD = 64 * 1024;
  private static final int MOST_BODY = 16 * 1024 * 1024;
  /** More than that may not fit into the buffers of a connection whose other end does not read. */
  private static final int MOST_AT_ONCE = 16 * 1024;

  private final Socket socket;
  private byte[] data = new byte[4096];
  private int used; // Bytes of data that were received.
  private int at; // Bytes of data that were read.
  private boolean answered; // A byte of the present response came.
  long idleSince;

  /** A response. {@code reusable}: the connection may carry another request. */
  record Response(int status, List<Map.Entry<String, String>> fields, String body, boolean reusable) {}

  Connection(Server server, long deadline) throws IOException {
    this.socket = connect(server, deadline);
  }

  private static Socket connect(Server server, long deadline) throws IOException {
    IOException failed = null;
    for (final InetAddress address : InetAddress.getAllByName(server.host())) {
      final Socket attempt = new Socket();
      try {
        attempt.setTcpNoDelay(true);
        attempt.connect(new InetSocketAddress(address, server.port()), millisUntil(deadline));
        return attempt;
      } catch (IOException error) {
        failed = error;
        attempt.close();
      }
    }
    throw failed;
  }

  void close() {
    try {
      socket.close();
    } catch (IOException ignored) { // Nothing follows from it.
    }
  }

  /** Whether the server closed it, or it failed, before a byte of the response came. */
  boolean wasUnanswered() {
    return !answered;
  }

  Response exchange(byte[] request, long deadline) throws IOException {
    answered = false;
    used = 0;
    at = 0;
    send(request, deadline);
    while (true) {
      final int status = status(line(deadline));
      final List<Map.Entry<String, String>> fields = fields(deadline);
      if (status >= 200) {
        return body(status, fields, deadline);
      }
    }
  }

  private void send(byte[] request, long deadline) throws IOException {
    if (request.length <= MOST_AT_ONCE) {
      socket.getOutputStream().write(request);
      return;
    }
    final ScheduledFuture<?> watch = Background.TIMER.schedule(this::close, millisUntil(deadline), TimeUnit.MILLISECONDS);
    try {
      socket.getOutputStream().write(request);
    } finally {
      watch.cancel(false);
    }
  }

  private static int millisUntil(long deadline) throws SocketTimeoutException {
    final long nanos = deadline - System.nanoTime();
    if (nanos <= 0) {
      throw new SocketTimeoutException("timed out");
    }
    return (int) Math.min(Integer.MAX_VALUE, (nanos + 999_999) / 1_000_000);
  }

  /** Receives more; false if the server closed the connection. */
  private boolean receive(long deadline) throws IOException {
    if (used == data.length) {
      data = Arrays.copyOf(data, data.length * 2);
    }
    socket.setSoTimeout(millisUntil(deadline));
    final int got = socket.getInputStream().read(data, used, data.length - used);
    answered |= got > 0;
    used += Math.max(0, got);
    return got > 0;
  }

  private void require(int count, long deadline) throws IOException {
    while (used - at < count) {
      if (!receive(deadline)) {
        throw new IOException("the connection was closed before the response was complete");
      }
    }
  }

  private String line(long deadline) throws IOException {
    for (int end = at;; ++end) {
      if (end - at > MOST_HEAD) {
        throw new IOException("the response's head is too long");
      }
      require(end - at + 1, deadline);
      if (data[end] == '\n') {
        final int to = end > at && data[end - 1] == '\r' ? end - 1 : end;
        final String line = new String(data, at, to - at, StandardCharsets.ISO_8859_1);
        at = end + 1;
        return line;
      }
    }
  }

  private static int status(String line) throws IOException {
    if (line.length() < 12 || !line.startsWith("HTTP/1.") || !line.substring(9, 12).matches("[1-5][0-9][0-9]")) {
      throw new IOException("the response is not HTTP/1.1");
    }
    return Integer.parseInt(line, 9, 12, 10);
  }

  private List<Map.Entry<String, String>> fields(long deadline) throws IOException {
    final List<Map.Entry<String, String>> fields = new ArrayList<>();
    int length = 0;
    for (String line = line(deadline); !line.isEmpty(); line = line(deadline)) {
      length += line.length();
      if (length > MOST_HEAD) {
        throw new IOException("the response's head is too long");
      }
      final int colon = line.indexOf(':');
      if (colon > 0) {
        fields.add(Map.entry(line.substring(0, colon), Fields.trim(line.substring(colon + 1))));
      }
    }
    return fields;
  }

  private Response body(int status, List<Map.Entry<String, String>> fields, long deadline) throws IOException {
    int length = status == 204 || status == 304 ? 0 : -1;
    boolean chunked = false;
    boolean reusable = true;
    for (final Map.Entry<String, String> field : fields) {
      final String value = field.getValue();
      if (field.getKey().equalsIgnoreCase("content-length") && length != 0) {
        if (!value.matches("[0-9]{1,8}") || Integer.parseInt(value) > MOST_BODY) {
          throw new IOException("the response has a Content-Length that is no number or too large");
        }
        length = Integer.parseInt(value);
      } else if (field.getKey().equalsIgnoreCase("transfer-encoding")) {
        chunked = value.equalsIgnoreCase("chunked");
      } else if (field.getKey().equalsIgnoreCase("connection") && value.toLowerCase(java.util.Locale.ROOT).contains("close")) {
        reusable = false;
      }
    }
    final String body;
    if (chunked && status != 204 && status != 304) {
      body = chunks(deadline);
    } else if (length >= 0) {
      require(length, deadline);
      body = new String(data, at, length, StandardCharsets.UTF_8);
      at += length;
    } else {
      reusable = false; // Its end is that of the connection.
      while (receive(deadline)) {
        if (used - at > MOST_BODY) {
          throw new IOException("the response's body is too long");
        }
      }
      body = new String(data, at, used - at, StandardCharsets.UTF_8);
    }
    return new Response(status, fields, body, reusable && at == used);
  }

  private String chunks(long deadline) throws IOException {
    final java.io.ByteArrayOutputStream body = new java.io.ByteArrayOutputStream();
    while (true) {
      final String line = line(deadline);
      final String digits = Fields.trim(line.split(";", 2)[0]);
      if (!digits.matches("[0-9a-fA-F]{1,7}")) {
        throw new IOException("the response has a chunk without a size");
      }
      final int size = Integer.parseInt(digits, 16);
      if (size == 0) {
        fields(deadline); // Trailers.
        return body.toString(StandardCharsets.UTF_8);
      }
      if (body.size() + size > MOST_BODY) {
        throw new IOException("the response's body is too long");
      }
      require(size + 2, deadline);
      body.write(data, at, size);
      at += size + 2;
    }
  }
}

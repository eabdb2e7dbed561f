package sluice.client;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Answers the n-th request with the n-th answer, the last for all further ones, to try what no daemon does. */
final class AnswerServer implements AutoCloseable {
  /** Never answers. */
  static final String SILENCE = "-";

  final String url;
  final List<String> requests = new CopyOnWriteArrayList<>();
  private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final boolean keeps;
  private final String[] answers;
  private final List<Socket> open = new CopyOnWriteArrayList<>();

  /** {@code keeps}: one connection may carry several requests. */
  AnswerServer(boolean keeps, String... answers) throws IOException {
    this.keeps = keeps;
    this.answers = answers;
    this.url = "http://127.0.0.1:" + listener.getLocalPort();
    daemon(() -> {
      while (true) {
        final Socket socket = listener.accept();
        open.add(socket);
        daemon(() -> serve(socket));
      }
    });
  }

  private static void daemon(Checks.Step work) {
    final Thread thread = new Thread(() -> {
      try {
        work.run();
      } catch (Exception ended) { // The other end or the test closed it.
      }
    });
    thread.setDaemon(true);
    thread.start();
  }

  private void serve(Socket socket) throws IOException {
    final InputStream in = socket.getInputStream();
    do {
      final StringBuilder head = new StringBuilder();
      while (head.indexOf("\r\n\r\n") < 0) {
        final int c = in.read();
        if (c < 0) {
          socket.close();
          return;
        }
        head.append((char) c);
      }
      final var length = java.util.regex.Pattern.compile("(?i)content-length: (\\d+)").matcher(head);
      in.readNBytes(length.find() ? Integer.parseInt(length.group(1)) : 0);
      final int number;
      synchronized (this) {
        number = requests.size();
        requests.add(head.toString());
      }
      final String answer = answers[Math.min(number, answers.length - 1)];
      if (answer.equals(SILENCE)) {
        return;
      }
      socket.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
    } while (keeps);
    socket.close();
  }

  static String http(int status, String body, String... fields) {
    final List<String> lines = new ArrayList<>(List.of("HTTP/1.1 " + status + " X", "Content-Length: " + body.length()));
    lines.addAll(List.of(fields));
    return String.join("\r\n", lines) + "\r\n\r\n" + body;
  }

  void closeConnections() throws IOException {
    for (final Socket socket : open) {
      socket.close();
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
    closeConnections();
  }
}

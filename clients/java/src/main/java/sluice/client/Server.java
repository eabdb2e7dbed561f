package sluice.client;

import java.net.URI;
import java.net.URISyntaxException;

/** Where the daemon listens. */
record Server(String host, int port, String authority, String path) {
  static Server of(String url) {
    final String wrong = "url: expected http://HOST:PORT, got \"" + url + "\"";
    final URI uri;
    try {
      uri = new URI(url);
    } catch (URISyntaxException malformed) {
      throw new IllegalArgumentException(wrong, malformed);
    }
    if ("https".equals(uri.getScheme())) {
      throw new IllegalArgumentException(wrong + ": this client has no TLS; use a proxy on this host");
    }
    if (!"http".equals(uri.getScheme()) || uri.getHost() == null || uri.getRawUserInfo() != null || uri.getRawQuery() != null
        || uri.getRawFragment() != null || uri.getPort() > 65_535) {
      throw new IllegalArgumentException(wrong);
    }
    Wire.checkFieldText("url", url);
    final String host = uri.getHost();
    return new Server(host.startsWith("[") ? host.substring(1, host.length() - 1) : host, uri.getPort() < 0 ? 80 : uri.getPort(),
        uri.getRawAuthority(), uri.getRawPath().replaceFirst("/+$", ""));
  }
}

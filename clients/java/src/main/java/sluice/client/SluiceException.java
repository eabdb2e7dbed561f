package sluice.client;

/** The base of the exceptions of a {@link SluiceClient}. */
public class SluiceException extends RuntimeException {
  private static final long serialVersionUID = 1;

  SluiceException(String message, Throwable cause) {
    super(message, cause);
  }
}

package sluice.client;

/** Sluice did not answer in time, or not as Sluice does. Checks never throw it: their fail mode decides. */
public final class UnavailableException extends SluiceException {
  private static final long serialVersionUID = 1;

  UnavailableException(String message) {
    super(message, null);
  }

  UnavailableException(String message, Throwable cause) {
    super(message, cause);
  }
}

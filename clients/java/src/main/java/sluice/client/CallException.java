package sluice.client;

/** Sluice refused the call itself: the program or its configuration is wrong, and a retry does not help. */
public final class CallException extends SluiceException {
  private static final long serialVersionUID = 1;

  private final int status;
  private final String code;

  CallException(int status, String code, String detail) {
    super("Sluice refused the call: " + status + " " + code + ": " + detail, null);
    this.status = status;
    this.code = code;
  }

  /** The status of HTTP. */
  public int status() {
    return status;
  }

  /** For programs, such as {@code invalid_cost}. */
  public String code() {
    return code;
  }
}

package sluice.client;

/** The request may not pass now. */
public final class DeniedException extends SluiceException {
  private static final long serialVersionUID = 1;

  private final transient Decision decision;

  DeniedException(Decision decision) {
    super(decision.why(), null);
    this.decision = decision;
  }

  /** The denial. */
  public Decision decision() {
    return decision;
  }
}

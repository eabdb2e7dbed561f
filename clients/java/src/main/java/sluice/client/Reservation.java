package sluice.client;

import java.util.List;
import java.util.Map;

/** An estimate that is charged. Settle it with the actual cost; otherwise the estimate stays charged. For one thread at a time. */
public final class Reservation implements AutoCloseable {
  private final SluiceClient client;
  private final Decision decision;
  private Long cost;
  private boolean settled;

  Reservation(SluiceClient client, Decision decision) {
    this.client = client;
    this.decision = decision;
  }

  /** What Sluice decided. */
  public Decision decision() {
    return decision;
  }

  /** Sets the actual cost, which {@link #close} charges. */
  public void setCost(long units) {
    cost = units;
  }

  /** Charges the actual cost. Once; later calls do nothing. A daemon that does not answer leaves the estimate charged. */
  public List<Settled> settle(long units) {
    return settle(units, Map.of());
  }

  /** {@code costs}: attributes that rules use as their cost. */
  public List<Settled> settle(long units, Map<String, Long> costs) {
    if (settled || decision.reservation().isEmpty()) {
      return List.of();
    }
    settled = true;
    try {
      return client.settle(decision.reservation(), units, costs);
    } catch (UnavailableException away) {
      return List.of();
    }
  }

  /** Settles with the cost that was set, if one was. */
  @Override
  public void close() {
    if (cost != null) {
      settle(cost);
    }
  }
}

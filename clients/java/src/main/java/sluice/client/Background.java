package sluice.client;

import java.util.concurrent.ScheduledThreadPoolExecutor;

/** Threads that renew slots and end calls that take too long. They do not keep a program from ending. */
final class Background {
  /** Renews slots: a renewal takes up to the client's timeout. */
  static final ScheduledThreadPoolExecutor RENEWALS = executor("sluice-renewals");
  /** For what takes no time. */
  static final ScheduledThreadPoolExecutor TIMER = executor("sluice-timer");

  private Background() {}

  private static ScheduledThreadPoolExecutor executor(String name) {
    final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1, work -> {
      final Thread thread = new Thread(work, name);
      thread.setDaemon(true);
      return thread;
    });
    executor.setRemoveOnCancelPolicy(true);
    return executor;
  }
}

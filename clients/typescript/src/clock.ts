/** Time and chance, as one object that tests replace. Times are milliseconds. */
export interface Clock {
  monotonic(): number;
  wall(): number;
  /** From 0 to 1. */
  random(): number;
  /** Rejects with the signal's reason if it is aborted meanwhile. */
  sleep(ms: number, signal?: AbortSignal | null): Promise<void>;
}

export const systemClock: Clock = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  random: () => Math.random(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const abort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", abort);
        resolve();
      }, ms);
      signal?.addEventListener("abort", abort, { once: true });
    }),
};

/** Where a client says what operators should know; console by default. */
export interface Log {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

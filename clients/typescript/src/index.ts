export { advise, explain, waitOf, type Advice, type Call, type Policy, type Reason, type Response429 } from "./advice.js";
export { Breaker } from "./breaker.js";
export { Client, type Attributes, type Check, type CheckOptions, type ClientOptions, type FailMode, type Value } from "./client.js";
export { systemClock, type Clock, type Log } from "./clock.js";
export { Decision, type HoldToken, type Limit, type Settled } from "./decision.js";
export { CallError, Denied, SluiceError, Throttled, Unavailable } from "./errors.js";
export { type Quota } from "./fields.js";
export { Hold, Reservation } from "./held.js";
export { type MiddlewareOptions } from "./middleware.js";
export {
  Attempts, Throttle, adviceOf, host, hostAndPath, throttledFetch, type Holding, type ThrottleOptions, type ThrottledFetch,
  type ThrottledInit,
} from "./throttle.js";

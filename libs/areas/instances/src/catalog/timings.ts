/**
 * How often the workers of this area check something, and how long they wait. Every installation has the defaults. A
 * test that waits for one of these times shortens it.
 */
export interface InstanceTimings {
  /** Between two searches for engines that no row wants. */
  orphanSearchMs: number;
  /** Between two checks of devices while the memory of one must become free, and between two checks of that memory. */
  busyDeviceCheckMs: number;
  /** Between two checks of devices that no instance is releasing. */
  quietDeviceCheckMs: number;
  /** Between two reports of a target's health. A report costs no request. */
  healthCheckMs: number;
  /** Between two requests to the engines for the amount of waiting work. */
  loadCheckMs: number;
  /** Between two checks of the files of secrets. A file watcher loses a symbolic link that Kubernetes swaps. */
  secretCheckMs: number;
  /** Between two signs that a worker still serves a reading of logs. */
  logSignMs: number;
  /**
   * Between two retries while a target does not answer. Each retry of each instance is a request to a target that may
   * just come back.
   */
  awayRetryMs: number;
  /** How long a server must refuse its first requests before it counts as one that will never answer them. */
  refusedAfterMs: number;
  /** Time for gateways to learn that an instance is leaving, and to report the requests in flight to it. */
  drainMinSeconds: number;
  /** The same if other instances of the revision stay, because then requests for the revision continue. */
  leaveMinSeconds: number;
}

export const DEFAULT_INSTANCE_TIMINGS: Readonly<InstanceTimings> = {
  orphanSearchMs: 5_000,
  busyDeviceCheckMs: 500,
  quietDeviceCheckMs: 10_000,
  healthCheckMs: 1_000,
  loadCheckMs: 5_000,
  secretCheckMs: 500,
  logSignMs: 2_000,
  awayRetryMs: 2_000,
  refusedAfterMs: 10_000,
  drainMinSeconds: 0.6,
  leaveMinSeconds: 2,
};

/** Only tests provide other timings. */
export const INSTANCE_TIMINGS = Symbol('timings of the area instances');

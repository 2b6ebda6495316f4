/**
 * How often the workers of this area check something, and how long they wait. Every installation has the defaults. A test that waits for one
 * of these times shortens it.
 */
export interface InstanceTimings {
  /** Between two searches for engines that no row wants. */
  orphanSearchMs: number;
  /** Between two checks of devices while the memory of one must come back, and between two questions whether that is so. */
  busyDeviceCheckMs: number;
  /** Between two checks of devices that no instance leaves. */
  quietDeviceCheckMs: number;
  /** Between two reports of a target's health. A report costs no request. */
  healthCheckMs: number;
  /** Between two questions to the engines how much work waits in them. */
  loadCheckMs: number;
  /** Between two checks of the files of secrets. A watcher of a file loses a symbolic link that Kubernetes swaps. */
  secretCheckMs: number;
  /** Between two signs that a worker still serves a reading of logs. */
  logSignMs: number;
  /** While a target is away, each retry of each instance is a request to what may come back just then. */
  awayRetryMs: number;
  /** Time for gateways to hear that an instance is going, and to report what they still have in flight to it. */
  drainMinSeconds: number;
  drainMaxSeconds: number;
  /** The same if other instances of the revision stay: nothing waits for the capacity, and gateways report the requests per instance. */
  leaveMinSeconds: number;
  leaveMaxSeconds: number;
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
  drainMinSeconds: 0.6,
  drainMaxSeconds: 30,
  leaveMinSeconds: 2,
  leaveMaxSeconds: 600,
};

/** Only tests provide other timings. */
export const INSTANCE_TIMINGS = Symbol('timings of the area instances');

/** The speed of the bed's kubelets. These values define how long the seconds in a pod take. */
export interface Pace {
  /**
   * Length of a second between probes. The timeout of a probe is not scaled, because machines are slow during tests.
   */
  probeSecondMs: number;
  /** Length of a second of the grace period and of preStop. */
  graceSecondMs: number;
  /**
   * Wait before a container restarts. The first restart does not wait; later waits double up to `most`. A real node
   * uses 10 s and 300 s.
   */
  backOffMs: { first: number; most: number };
  /** Time between two attempts to get an image or a secret. */
  retryMs: number;
}

export const PACE: Readonly<Pace> = {
  probeSecondMs: 100,
  graceSecondMs: 50,
  backOffMs: { first: 200, most: 6_000 },
  retryMs: 200,
};

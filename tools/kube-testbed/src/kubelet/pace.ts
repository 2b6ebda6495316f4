/** How fast the bed's kubelets go. What a pod says in seconds takes as long as is written here. */
export interface Pace {
  /** A second between probes. The time that one may take stays what it is: machines that test are slow. */
  probeSecondMs: number;
  /** A second of the grace period and of preStop. */
  graceSecondMs: number;
  /** Before a container starts again that ended, after the first time, doubled each time up to `most`: 10 s and 300 s on a real node. */
  backOffMs: { first: number; most: number };
  /** Between two tries to get an image or a secret. */
  retryMs: number;
}

export const PACE: Readonly<Pace> = {
  probeSecondMs: 100,
  graceSecondMs: 50,
  backOffMs: { first: 200, most: 6_000 },
  retryMs: 200,
};

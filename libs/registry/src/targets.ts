import type { TargetKind } from '@slipway/target-driver';
import { endpointTarget } from '@slipway/target-endpoint';
import { processTarget } from '@slipway/target-process';
import { onDemand } from './on-demand.js';

/** The kinds of execution targets there are: one line each. `loadKinds` of platform-config comes before who reads a file with them. */
export const TARGETS: readonly TargetKind[] = [
  processTarget,
  endpointTarget,
  // Whoever has one machine is to have no more code than before.
  onDemand('kubernetes', async () => (await import('@slipway/target-kubernetes')).kubernetesTarget),
];

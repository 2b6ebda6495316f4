import type { TargetKind } from '@slipway/target-driver';
import { endpointTarget } from '@slipway/target-endpoint';
import { processTarget } from '@slipway/target-process';
import { onDemand } from './on-demand.js';

/**
 * The kinds of execution targets: one line each. `loadKinds` of platform-config must run before a file with them is
 * read.
 */
export const TARGETS: readonly TargetKind[] = [
  processTarget,
  endpointTarget,
  // Loaded on demand, so that an installation on one machine loads no more code than before.
  onDemand('kubernetes', async () => (await import('@slipway/target-kubernetes')).kubernetesTarget),
];

import type { TargetKind } from '@slipway/target-driver';
import { endpointTarget } from '@slipway/target-endpoint';
import { processTarget } from '@slipway/target-process';

/** The kinds of execution targets there are: one line each. */
export const TARGETS: readonly TargetKind[] = [processTarget, endpointTarget];

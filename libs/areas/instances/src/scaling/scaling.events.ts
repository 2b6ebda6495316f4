import { WORKER } from '@slipway/contracts';
import type { NewEvent } from '@slipway/platform-durable/events';
import { deploymentSubject } from '../workloads/deployment-subject.js';
import type { ScalableRow } from './scaling.query.js';
import type { ScalingDecision, ScalingSituation } from './scaling-decision.js';

/** `deployment.scaled`: the new number of instances of a revision, the reason, and the numbers that led to it. */
export function deploymentScaled(
  row: ScalableRow,
  now: ScalingSituation,
  { replicas, reason }: ScalingDecision,
): NewEvent {
  return {
    type: 'deployment.scaled',
    subject: deploymentSubject(row.revision_name),
    actor: WORKER,
    revisionId: row.revision_id,
    data: {
      revision: row.revision_name,
      from: row.replicas,
      to: replicas,
      reason,
      in_flight: now.in_flight,
      held: now.held,
      target_in_flight: now.scaling.target_in_flight,
      waiting: now.waiting,
      kv_usage: now.kv_usage,
      ...(reason === 'start_failed' && { cause: now.failure, failures: now.failures + 1 }),
    },
  };
}

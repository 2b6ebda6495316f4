import type { NewEvent } from '@slipway/platform-durable/events';
import { WORKER } from '@slipway/contracts';
import type { Observation } from '@slipway/target-driver';
import { deploymentSubject } from '../workloads/deployment-subject.js';
import type { InstanceRow, WorkloadRow } from '../workloads/instance.query.js';
import type { InstanceChange } from './instance-transitions.js';

/** `instance.ready`: it answers its probe and is published to the gateways. */
export function instanceReady(workload: WorkloadRow, instance: InstanceRow): NewEvent {
  return event('instance.ready', workload, instance, {});
}

/**
 * `instance.unhealthy`: it misses its probes and is withdrawn from the gateways.
 * `instance.drifted`: the adopted server has another model, and is withdrawn until it has the right one. This also
 * applies to a server that was restarted with the other model while it was withdrawn. It is sent once per drift.
 */
export function instanceLeaves(workload: WorkloadRow, instance: InstanceRow, seen: Observation): NewEvent | undefined {
  const told = (type: string) => event(type, workload, instance, seenIn(seen));
  if (seen.reason === 'model_changed') return instance.reason === seen.reason ? undefined : told('instance.drifted');
  return instance.state === 'ready' ? told('instance.unhealthy') : undefined;
}

/**
 * `instance.drifted`: the objects of the instance on its target were changed from outside Slipway. It is sent once per
 * drift.
 */
export function instanceChanged(workload: WorkloadRow, instance: InstanceRow, seen: Observation): NewEvent {
  return event('instance.drifted', workload, instance, { ...seenIn(seen), message: seen.drift ?? null });
}

/**
 * `instance.crashed`: this generation has ended and the next one starts after the back-off, or the target has restarted
 * it. If it was never ready, its start has failed. Of consecutive starts that fail in the same way, only the first is
 * reported.
 */
export function instanceCrashed(
  workload: WorkloadRow,
  instance: InstanceRow,
  seen: Observation,
  backOffSeconds: number | null,
  { failure, failedStarts = 0 }: Pick<InstanceChange, 'failure' | 'failedStarts'> = {},
): NewEvent | undefined {
  if (failedStarts > 1) return undefined;
  return event('instance.crashed', workload, instance, {
    ...(failure && { cause: failure.cause }),
    ...seenIn(seen),
    exit_code: seen.lastExit?.code ?? null,
    restarts: instance.restarts + 1,
    restarts_in_seconds: backOffSeconds,
  });
}

/** `instance.moved`: it lost its place on the target and runs at another. This is not a crash. */
export function instanceMoved(workload: WorkloadRow, instance: InstanceRow, seen: Observation): NewEvent {
  return event('instance.moved', workload, instance, { ...seenIn(seen), from: instance.place });
}

/** `instance.abandoned`: the operator has given up its unit, which may still run. */
export function instanceAbandoned(workload: WorkloadRow, instance: InstanceRow, message: string): NewEvent {
  return event('instance.abandoned', workload, instance, { message });
}

function seenIn(seen: Observation) {
  return { message: seen.message ?? null, reason: seen.reason ?? null, place: seen.place ?? null };
}

function event(type: string, workload: WorkloadRow, instance: InstanceRow, data: Record<string, unknown>): NewEvent {
  return {
    type,
    subject: deploymentSubject(workload.revision_name),
    actor: WORKER,
    revisionId: workload.revision_id,
    data: {
      revision: workload.revision_name,
      instance_id: instance.id,
      ordinal: instance.ordinal,
      generation: instance.generation,
      ...data,
    },
  };
}

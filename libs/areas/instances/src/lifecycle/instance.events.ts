import type { NewEvent } from '@slipway/platform-durable/events';
import { WORKER } from '@slipway/contracts';
import type { Observation } from '@slipway/target-driver';
import type { InstanceRow, WorkloadRow } from '../workloads/instance.query.js';

/** `instance.ready`: it answers its probe and is offered to the gateways. */
export function instanceReady(workload: WorkloadRow, instance: InstanceRow): NewEvent {
  return event('instance.ready', workload, instance, {});
}

/**
 * `instance.unhealthy`: it misses its probes and is no longer offered to the gateways.
 * `instance.drifted`: the adopted server has another model now, and is no longer offered until it has the right one; also of one that was out of
 * sight meanwhile, because it was restarted with the other model. Once for each.
 */
export function instanceLeaves(workload: WorkloadRow, instance: InstanceRow, seen: Observation): NewEvent | undefined {
  const told = (type: string) => event(type, workload, instance, seenIn(seen));
  if (seen.reason === 'model_changed') return instance.reason === seen.reason ? undefined : told('instance.drifted');
  return instance.state === 'ready' ? told('instance.unhealthy') : undefined;
}

/** `instance.drifted`: somebody else has changed what it is made of at its target. Once for each. */
export function instanceChanged(workload: WorkloadRow, instance: InstanceRow, seen: Observation): NewEvent {
  return event('instance.drifted', workload, instance, { ...seenIn(seen), message: seen.drift ?? null });
}

/** `instance.crashed`: this generation is over and the next one starts after the back-off, or the target has restarted it. */
export function instanceCrashed(
  workload: WorkloadRow,
  instance: InstanceRow,
  seen: Observation,
  backOffSeconds: number | null,
): NewEvent {
  return event('instance.crashed', workload, instance, {
    ...seenIn(seen),
    exit_code: seen.lastExit?.code ?? null,
    restarts: instance.restarts + 1,
    restarts_in_seconds: backOffSeconds,
  });
}

/** `instance.moved`: its place was taken away and it runs in another; that is nobody's crash. */
export function instanceMoved(workload: WorkloadRow, instance: InstanceRow, seen: Observation): NewEvent {
  return event('instance.moved', workload, instance, { ...seenIn(seen), from: instance.place });
}

function seenIn(seen: Observation) {
  return { message: seen.message ?? null, reason: seen.reason ?? null, place: seen.place ?? null };
}

function event(type: string, workload: WorkloadRow, instance: InstanceRow, data: Record<string, unknown>): NewEvent {
  const deployment = workload.revision_name.replace(/-\d+$/, '');
  return {
    type,
    subject: `deployments/${deployment}`,
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

import type { NewEvent } from '@slipway/platform-operations';
import type { InstanceRow, WorkloadRow } from './instance.query.js';

const WORKER = { type: 'system', id: 'worker' };

/** `instance.ready`: it answers its probe and is offered to the gateways. */
export function instanceReady(workload: WorkloadRow, instance: InstanceRow): NewEvent {
  return event('instance.ready', workload, instance, {});
}

/** `instance.unhealthy`: it misses its probes and is no longer offered to the gateways. */
export function instanceUnhealthy(workload: WorkloadRow, instance: InstanceRow, message: string | null): NewEvent {
  return event('instance.unhealthy', workload, instance, { message });
}

/** `instance.crashed`: this generation is over; the next one starts after the back-off. */
export function instanceCrashed(
  workload: WorkloadRow,
  instance: InstanceRow,
  crash: { message: string | null; exitCode: number | null; backOffSeconds: number },
): NewEvent {
  return event('instance.crashed', workload, instance, {
    message: crash.message,
    exit_code: crash.exitCode,
    restarts: instance.restarts + 1,
    restarts_in_seconds: crash.backOffSeconds,
  });
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

import { liveOf, type InstanceSpec } from '@slipway/target-driver';
import type { KubernetesEngine } from '../target-config.js';

/** An engine that does not answer is not sent requests for long before it is ended: a long prefill is no deadlock. */
const LIVENESS_FACTOR = 4;
export const PORT_NAME = 'http';
/** Fields of probes are 32-bit integers. */
const LARGEST = 2_147_483_647;

/** As a container has it. Only requests: a program that an image lacks would restart it for ever. */
export interface Probe {
  httpGet: { path: string; port: string };
  periodSeconds: number;
  timeoutSeconds: number;
  failureThreshold: number;
}

/**
 * What the kubelet asks an engine: until it has started, as long as it may take to be ready; from then on whether it is ready, and more
 * patiently whether it lives. Neither of the two begins before the first is over, so that no load is cut short by them.
 */
export function probesOf(
  spec: InstanceSpec,
  engine: KubernetesEngine,
): Record<'startupProbe' | 'readinessProbe' | 'livenessProbe', Probe> {
  const { probe, readyTimeoutSeconds } = spec;
  const path = probe.path ?? engine.ready.path;
  const period = whole(probe.intervalSeconds);
  const withinSeconds = readyTimeoutSeconds ?? engine.ready.timeout_seconds;
  const live = livePace(spec, engine);
  const readiness = probeAt(probe.path ?? live.path ?? path, live);
  return {
    startupProbe: {
      httpGet: { path, port: PORT_NAME },
      periodSeconds: period,
      timeoutSeconds: whole(probe.timeoutSeconds),
      failureThreshold: whole(withinSeconds / period),
    },
    readinessProbe: readiness,
    livenessProbe: { ...readiness, failureThreshold: whole(readiness.failureThreshold * LIVENESS_FACTOR) },
  };
}

/** What the revision itself says goes before what the engine says, and that before the caller's defaults. */
function livePace({ probe }: InstanceSpec, engine: KubernetesEngine): InstanceSpec['probe'] {
  const { set = [], ...own } = probe;
  const said = Object.fromEntries(set.map((key) => [key, own[key]]));
  return { ...own, ...(engine.live && liveOf(engine.live)), ...said };
}

function probeAt(path: string, pace: InstanceSpec['probe']): Probe {
  return {
    httpGet: { path, port: PORT_NAME },
    periodSeconds: whole(pace.intervalSeconds),
    timeoutSeconds: whole(pace.timeoutSeconds),
    failureThreshold: whole(pace.failureThreshold),
  };
}

function whole(value: number): number {
  return Math.min(LARGEST, Math.max(1, Math.ceil(value)));
}

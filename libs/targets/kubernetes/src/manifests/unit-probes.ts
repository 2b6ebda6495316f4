import { liveOf, type InstanceSpec } from '@slipway/target-driver';
import type { KubernetesEngine } from '../target-config.js';

/**
 * An engine that does not answer gets no requests for a long time before it is restarted, because a long prefill is not
 * a deadlock.
 */
const LIVENESS_FACTOR = 4;
export const PORT_NAME = 'http';
/** Fields of probes are 32-bit integers. */
const LARGEST = 2_147_483_647;

/**
 * A probe in the fields of a container. Only HTTP requests: a program that an image lacks would restart it without end.
 */
export interface Probe {
  httpGet: { path: string; port: string };
  periodSeconds: number;
  timeoutSeconds: number;
  failureThreshold: number;
}

/**
 * The kubelet's probes of an engine. The startup probe lasts as long as the engine may take to be ready. After it, one
 * probe checks readiness and another, more patient one checks that the engine lives. Neither begins before the startup
 * probe has succeeded, so that they interrupt no loading.
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

/** The revision's own values override those of the engine, which override the caller's defaults. */
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

import http from 'node:http';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { withinTime } from '@slipway/contracts';
import type { ContainerSpec, Probe } from '../objects.js';
import type { Pace } from './pace.js';

/** The results of the probes of a running container. */
export interface ProbeReport {
  onStarted(): void;
  onReady(isReady: boolean): void;
  /** The container must be ended and restarted, for the given reason. */
  onHopeless(why: string): void;
}

/** Runs the probes of a container until the signal fires: startup first, then readiness and liveness concurrently. */
export async function probe(
  container: ContainerSpec,
  address: string,
  pace: Pace,
  report: ProbeReport,
  signal: AbortSignal,
): Promise<void> {
  const { startupProbe, readinessProbe, livenessProbe } = container;
  const look = (one: Probe): Promise<string | undefined> => attempt(one, container, address, signal);
  try {
    if (startupProbe) {
      const why = await repeat(startupProbe, pace, signal, look, () => 'stop');
      if (why !== undefined) return report.onHopeless(`failed startup probe: ${why}`);
    }
    report.onStarted();
    if (!readinessProbe) report.onReady(true);
    await Promise.all([
      readinessProbe &&
        repeat(
          readinessProbe,
          pace,
          signal,
          look,
          () => 'continue',
          report.onReady.bind(report),
          () => 'continue',
        ),
      livenessProbe &&
        repeat(livenessProbe, pace, signal, look, () => 'continue').then((why) => {
          if (why !== undefined) report.onHopeless(`failed liveness probe: ${why}`);
        }),
    ]);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

type ProbeDecision = 'stop' | 'continue';

/** Returns the last failure if `onFailed` says so, and undefined after a success if `onPassed` says so. */
async function repeat(
  one: Probe,
  pace: Pace,
  signal: AbortSignal,
  look: (one: Probe) => Promise<string | undefined>,
  onPassed: () => ProbeDecision,
  told: (isPassed: boolean) => void = () => undefined,
  onFailed: () => ProbeDecision = () => 'stop',
): Promise<string | undefined> {
  await delay((one.initialDelaySeconds ?? 0) * pace.probeSecondMs, undefined, { signal });
  let passes = 0;
  let misses = 0;
  for (;;) {
    const why = await look(one);
    signal.throwIfAborted();
    passes = why === undefined ? passes + 1 : 0;
    misses = why === undefined ? 0 : misses + 1;
    if (passes >= (one.successThreshold ?? 1)) {
      told(true);
      if (onPassed() === 'stop') return undefined;
    }
    if (misses >= (one.failureThreshold ?? 3)) {
      told(false);
      if (onFailed() === 'stop') return why;
    }
    await delay((one.periodSeconds ?? 10) * pace.probeSecondMs, undefined, { signal });
  }
}

/** Undefined for a success, otherwise the failure. */
async function attempt(
  one: Probe,
  container: ContainerSpec,
  address: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const timeoutMs = (one.timeoutSeconds ?? 1) * 1_000;
  const { httpGet, tcpSocket } = one;
  if (httpGet) {
    const { path = '/', port, httpHeaders = [] } = httpGet;
    const headers = Object.fromEntries(httpHeaders.map(({ name, value }) => [name, value]));
    const asked = { host: address, port: numberOf(port, container), path, headers };
    return await withinTime(timeoutMs, signal, (bounded) => status(asked, bounded));
  }
  if (tcpSocket)
    return await withinTime(timeoutMs, signal, (bounded) =>
      opens(address, numberOf(tcpSocket.port, container), bounded),
    );
  return "the bed's kubelet runs httpGet and tcpSocket probes only";
}

function status(
  asked: { host: string; port: number; path: string; headers: Record<string, string> },
  signal: AbortSignal,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const sent = http.get({ ...asked, agent: false, signal }, (answer) => {
      answer.destroy();
      const code = answer.statusCode ?? 0;
      resolve(code >= 200 && code < 400 ? undefined : `HTTP probe failed with statuscode: ${code}`);
    });
    sent.once('error', (error) => resolve(error.message));
  });
}

function opens(host: string, port: number, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = net.connect({ host, port, signal }, () => {
      socket.destroy();
      resolve(undefined);
    });
    socket.once('error', (error) => resolve(error.message));
  });
}

function numberOf(port: number | string, container: ContainerSpec): number {
  if (typeof port === 'number') return port;
  return container.ports?.find(({ name }) => name === port)?.containerPort ?? 0;
}

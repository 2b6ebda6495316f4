import {
  askEngineLoad,
  type CallableServer,
  type EngineLoad,
  type HealthAnswer,
  HealthHistory,
  type InstanceSpec,
  type MetricsConfig,
  type Observation,
  probeHealth,
  startFailure,
} from '@slipway/target-driver';
import { Agent } from 'undici';
import type { Generation, InstanceFolder, StartIntent } from '../instances/instance-folder.js';
import type { PortOwner } from './port-listener.js';

type HealthFinding = Pick<Observation, 'state' | 'reason' | 'message' | 'failure' | 'isUnanswered'>;

/** Checks the health of engines: by their `ready` settings until they are ready, then by their `live` settings. */
export class EngineHealth {
  private readonly history = new HealthHistory();
  private readonly agent = new Agent({ pipelining: 0 });
  /** The time and the result of the last check of a ready engine. */
  private readonly asked = new Map<string, { generation: number; at: number; seen: HealthFinding }>();

  /**
   * Checks a running generation once. It sends a probe, unless the engine's own interval is longer than that of the
   * checks.
   */
  async look(
    spec: InstanceSpec,
    own: Generation,
    { folder, intent, baseUrl, owner }: EngineAtPort,
  ): Promise<HealthFinding> {
    const probe = own.wasReady ? liveProbe(spec, intent) : startProbe(spec, intent);
    const last = this.asked.get(spec.instanceId);
    const isEarly = own.wasReady && performance.now() - (last?.at ?? -Infinity) < probe.intervalSeconds * 1000;
    if (last?.generation === own.generation && isEarly) return last.seen;
    const answered = await this.ask(probe, baseUrl);
    const owns = answered.status === undefined ? undefined : await owner();
    if (owns?.is === 'foreign') return this.taken(owns.who, baseUrl);
    const answer = owns?.is === 'nobody' ? NOBODY : answered;
    const state = this.history.note(spec.instanceId, own.generation, answer.isHealthy, probe.failureThreshold);
    if (answer.isHealthy && !own.wasReady) await folder.mark(own.generation, 'ready');
    const judged = this.judge(spec, own, intent, answer, state);
    const seen =
      owns?.is === 'unknown' ? { message: `the owner of the port was not checked: ${owns.why}`, ...judged } : judged;
    if (own.wasReady) this.asked.set(spec.instanceId, { generation: own.generation, at: performance.now(), seen });
    return seen;
  }

  /** Sends one request outside the regular checks, as a ready engine is probed. */
  async answers(spec: InstanceSpec, intent: StartIntent, baseUrl: string): Promise<boolean> {
    return (await this.ask(liveProbe(spec, intent), baseUrl)).isHealthy;
  }

  callable({ model, instanceKey: credential }: InstanceSpec, baseUrl: string): CallableServer {
    return { baseUrl, model: model.id, credential, dispatcher: this.agent };
  }

  load(metrics: MetricsConfig, baseUrl: string, key?: string): Promise<EngineLoad | undefined> {
    return askEngineLoad(baseUrl, metrics, { dispatcher: this.agent, key });
  }

  forget(instanceId: string): void {
    this.history.forget(instanceId);
    this.asked.delete(instanceId);
  }

  async close(): Promise<void> {
    await this.agent.destroy();
  }

  private taken(who: string, baseUrl: string): HealthFinding {
    const message = `${who} listens on port ${new URL(baseUrl).port}, and is not the engine`;
    const failure = startFailure({ code: null, signal: null, known: 'port_in_use' }, []);
    return { state: 'unhealthy', reason: 'port_in_use', message, failure };
  }

  private judge(
    spec: InstanceSpec,
    own: Generation,
    intent: StartIntent,
    answer: HealthAnswer,
    state: ReturnType<HealthHistory['note']>,
  ): HealthFinding {
    const message = answer.message === undefined ? {} : { message: answer.message };
    if (state === 'ready') return { state: 'ready', ...message };
    const isUnanswered = answer.cause !== undefined;
    if (own.wasReady)
      return { state: 'unhealthy', reason: 'probe_failed', ...message, ...(isUnanswered && { isUnanswered }) };
    if (isWrongAnswer(intent, answer)) {
      const { path } = startProbe(spec, intent);
      return {
        state: 'unhealthy',
        reason: 'health_path_missing',
        message: `GET ${path} returned ${answer.status}, which an engine does not return while it loads`,
      };
    }
    const timeout = spec.readyTimeoutSeconds ?? intent.timeoutSeconds;
    if (Date.now() - own.claimedAt! < timeout * 1000) return { state: 'starting', reason: 'loading', ...message };
    return { state: 'unhealthy', reason: 'start_timeout', message: `not ready within ${timeout} s: ${answer.message}` };
  }

  private ask({ path, timeoutSeconds }: Probe, baseUrl: string): Promise<HealthAnswer> {
    return probeHealth({ url: `${baseUrl}${path}`, timeoutSeconds, dispatcher: this.agent });
  }
}

const NOBODY: HealthAnswer = { isHealthy: false, message: 'the process that responded no longer listens' };

/** The address of an engine, and whether the engine itself answers there. */
interface EngineAtPort {
  folder: InstanceFolder;
  intent: StartIntent;
  baseUrl: string;
  owner: () => Promise<PortOwner | undefined>;
}

type Probe = InstanceSpec['probe'] & { path: string };

function startProbe({ probe }: InstanceSpec, { path }: StartIntent): Probe {
  return { ...probe, path: probe.path ?? path, intervalSeconds: 0 };
}

/** The revision's own settings override those of the engine's template, and these override the caller's defaults. */
function liveProbe({ probe }: InstanceSpec, { path, live = {} }: StartIntent): Probe {
  const { set = [], ...own } = probe;
  const said = Object.fromEntries(set.map((key) => [key, own[key]]));
  // Only the template's own interval delays a probe: a caller checks as often as it wants to probe.
  const intervalSeconds = set.includes('intervalSeconds') ? 0 : (live.intervalSeconds ?? 0);
  return { ...own, ...live, ...said, intervalSeconds, path: probe.path ?? live.path ?? path };
}

/**
 * A redirect or a "not found" comes from a server that is up and was probed at the wrong path. That is certain only if
 * the template says what its engine answers while it loads. 408, 425 and 429 mean "try again later", like every status
 * from 500 on.
 */
function isWrongAnswer({ whileStarting }: StartIntent, { isHealthy, status }: HealthAnswer): boolean {
  if (whileStarting === undefined || isHealthy || status === undefined) return false;
  return status >= 300 && status < 500 && ![408, 425, 429].includes(status);
}

import {
  assertSpec,
  HealthHistory,
  probeHealth,
  TargetConfigError,
  type HealthAnswer,
  type InstanceRef,
  type InstanceSpec,
  type Observation,
  type SpecIssue,
  type TargetDriver,
} from '@slipway/target-driver';
import { checkUrl, guardedDispatcher, parseAllow, type ResolveHost } from '@slipway/platform-egress';
import type { AllowPattern } from '@slipway/contracts';
import type { TargetConfig } from '@slipway/platform-config';
import type { Dispatcher } from 'undici';

/** A target of `kind: endpoint`: addresses that its servers may have. */
export type EndpointTargetConfig = TargetConfig & { allow: string[] };

export interface EndpointDriverOptions {
  /** How names are resolved; by the operating system by default. */
  resolve?: ResolveHost;
}

const DEFAULT_READY_SECONDS = 60;
/** RFC 6750: what may stand behind "Bearer ". */
const BEARER = /^[\x21-\x7e]+$/;
const PATH = /^\/[\x21-\x7e]*$/;

/**
 * Adopts OpenAI-compatible servers that already run. It starts and stops nothing; what it adds is to look at them without
 * being led anywhere that the operator did not allow. It keeps nothing: `list` is always empty.
 */
export class EndpointDriver implements TargetDriver {
  readonly kind = 'endpoint';
  readonly adopts = true;
  readonly restarts = 'caller';
  readonly probes = 'look';
  readonly outlivesHost = true;
  readonly name: string;
  private readonly rules: AllowPattern[];
  private readonly dispatcher: Dispatcher;
  private readonly health = new HealthHistory();
  /** When this object first looked at an instance; generation and milliseconds. */
  private readonly firstLooks = new Map<string, { generation: number; at: number }>();

  /** @throws TargetConfigError for a pattern that is none. */
  constructor(config: EndpointTargetConfig, options: EndpointDriverOptions = {}) {
    this.name = config.name;
    const problems = config.allow.flatMap((pattern) => problemOf(pattern));
    if (problems.length > 0) throw new TargetConfigError(config.name, problems);
    this.rules = parseAllow(config.allow);
    this.dispatcher = guardedDispatcher(config.allow, { resolve: options.resolve });
  }

  engines(): [] {
    return [];
  }

  check(spec: InstanceSpec): SpecIssue[] {
    const issues: SpecIssue[] = [];
    const refuse = (field: string, code: SpecIssue['code'], message: string) => issues.push({ field, code, message });
    const startsNothing = `target "${this.name}" adopts running servers and starts none`;
    if (!/^[A-Za-z0-9_-]{1,128}$/.test(spec.instanceId))
      refuse('instance_id', 'invalid_value', 'must match [A-Za-z0-9_-]{1,128}');
    if (spec.runtime.engine !== undefined) refuse('runtime.engine', 'not_applicable', startsNothing);
    for (const name of Object.keys(spec.runtime.args)) refuse(`runtime.args.${name}`, 'not_applicable', startsNothing);
    for (const name of Object.keys(spec.runtime.env)) refuse(`runtime.env.${name}`, 'not_applicable', startsNothing);
    if (spec.probe.path !== undefined && !PATH.test(spec.probe.path)) {
      refuse('probes.path', 'invalid_value', 'must begin with "/" and consist of visible ASCII characters');
    }
    if (!spec.endpoint) {
      refuse('endpoint', 'required', `target "${this.name}" needs the address of a running server`);
      return issues;
    }
    const { baseUrl, healthPath, credential } = spec.endpoint;
    const verdict = checkUrl(this.rules, baseUrl);
    if (!verdict.ok)
      refuse(
        'endpoint.base_url',
        verdict.code.endsWith('_not_allowed') ? 'not_allowed' : 'invalid_value',
        verdict.message,
      );
    if (baseUrl.includes('?')) refuse('endpoint.base_url', 'invalid_value', 'must not carry a query');
    if (!PATH.test(healthPath))
      refuse('endpoint.health_path', 'invalid_value', 'must begin with "/" and consist of visible ASCII characters');
    if (credential !== undefined && !BEARER.test(credential)) {
      refuse('endpoint.credential_ref', 'invalid_value', 'must lead to visible ASCII characters without spaces');
    }
    return issues;
  }

  /** Nothing to start; refuses what `check` refuses. */
  async provision(spec: InstanceSpec): Promise<void> {
    assertSpec(this, spec);
  }

  async observe(spec: InstanceSpec): Promise<Observation> {
    const { instanceId, generation, endpoint, probe } = spec;
    if (!endpoint) return { state: 'absent' };
    const since = this.firstLookAt(instanceId, generation);
    const baseUrl = endpoint.baseUrl.replace(/\/+$/, '');
    const verdict = checkUrl(this.rules, endpoint.baseUrl);
    const answer = verdict.ok
      ? await this.ask(spec, baseUrl)
      : { healthy: false, message: `endpoint.base_url ${verdict.message}` };
    const seen = { baseUrl, generation, ...(answer.message === undefined ? {} : { message: answer.message }) };
    const state = this.health.note(instanceId, generation, answer.healthy, probe.failureThreshold);
    if (state === 'ready') return { state, ...seen };
    if (state === 'unhealthy') return { state, reason: 'probe_failed', ...seen };
    const timeout = spec.readyTimeoutSeconds ?? DEFAULT_READY_SECONDS;
    if (Date.now() - since < timeout * 1000) return { state: 'starting', reason: 'loading', ...seen };
    return { state: 'unhealthy', reason: 'start_timeout', ...seen };
  }

  async answers(spec: InstanceSpec, baseUrl: string): Promise<boolean> {
    return spec.endpoint !== undefined && (await this.ask(spec, baseUrl)).healthy;
  }

  /** Nothing to stop: the server belongs to somebody else. */
  async terminate(instanceId: string): Promise<'gone'> {
    this.health.forget(instanceId);
    this.firstLooks.delete(instanceId);
    return 'gone';
  }

  async list(): Promise<InstanceRef[]> {
    return [];
  }

  async close(): Promise<void> {
    await this.dispatcher.destroy();
  }

  private ask({ endpoint, probe }: InstanceSpec, baseUrl: string): Promise<HealthAnswer> {
    return probeHealth({
      url: `${baseUrl}${probe.path ?? endpoint?.healthPath}`,
      timeoutSeconds: probe.timeoutSeconds,
      dispatcher: this.dispatcher,
      credential: endpoint?.credential,
    });
  }

  private firstLookAt(instanceId: string, generation: number): number {
    const known = this.firstLooks.get(instanceId);
    if (known?.generation === generation) return known.at;
    const look = { generation, at: Date.now() };
    this.firstLooks.set(instanceId, look);
    return look.at;
  }
}

function problemOf(pattern: string): string[] {
  try {
    parseAllow([pattern]);
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

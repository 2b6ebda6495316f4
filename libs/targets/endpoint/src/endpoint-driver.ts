import {
  assertSpec,
  HealthHistory,
  probeHealth,
  TargetConfigError,
  type CallableServer,
  type EngineTraits,
  type HealthAnswer,
  type InstanceRef,
  type InstanceSpec,
  type ModelsAnswer,
  type Observation,
  type InstanceSpecIssue,
  type TargetDriver,
  type UnitLocation,
} from '@slipway/target-driver';
import { Egress, outsideOf, parseAllow, type GuardOptions } from '@slipway/platform-egress';
import { originOf, serverUrls, withoutTrailingSlashes, type AllowEntry, type IdentityProof } from '@slipway/contracts';
import type { TargetConfig } from '@slipway/platform-config';
import { DEFAULT_HEALTH, healthPathOf, profileTraits, type EndpointProfile } from './endpoint-profile.js';
import { listModels, shown, type ServerQuestion } from './model-list.js';
import { cheapProofs, ModelWatch } from './model-watch.js';

/** A target of `kind: endpoint`: the addresses that its servers may have, and how they behave. */
export type EndpointTargetConfig = TargetConfig & { allow: AllowEntry[]; profile?: EndpointProfile };

/** How names are resolved, and which ports are never called. */
export type EndpointDriverOptions = Pick<GuardOptions, 'resolve' | 'ownPorts'>;

const DEFAULT_READY_SECONDS = 60;
/** RFC 6750: the characters that may follow "Bearer ". */
const BEARER = /^[\x21-\x7e]+$/;
/**
 * How often a server must answer 404 at its health path, at the pace of the probes, before the path counts as missing.
 */
const MISSING_PATH_TIMES = 3;
const PATH = /^\/[\x21-\x7e]*$/;

/**
 * Adopts OpenAI-compatible servers that already run. It starts and stops nothing. It observes them, and never follows
 * them to an address that the operator did not allow. It keeps nothing: `list` is always empty.
 */
export class EndpointDriver implements TargetDriver {
  readonly kind = 'endpoint';
  readonly adopts = true;
  readonly restarts = 'caller';
  readonly probes = 'look';
  readonly outlivesHost = true;
  readonly name: string;
  private readonly egress: Egress;
  private allow: readonly AllowEntry[];
  private profile?: EndpointProfile;
  private readonly history = new HealthHistory();
  /** Observations of an instance in one generation, made by this object. */
  private readonly histories = new Map<string, ProbeHistory>();

  /** @throws TargetConfigError if a pattern is invalid */
  constructor(config: EndpointTargetConfig, options: EndpointDriverOptions = {}) {
    this.name = config.name;
    this.allow = allowOf(config);
    this.profile = config.profile;
    this.egress = new Egress(() => this.allow, options);
  }

  reconfigure(config: EndpointTargetConfig): () => void {
    const allow = allowOf(config);
    return () => {
      this.allow = allow;
      this.profile = config.profile;
    };
  }

  engines(): [] {
    return [];
  }

  /** Traits of the target's profile. Undefined if the target has none, because then nothing is known. */
  traits(spec: InstanceSpec): EngineTraits | undefined {
    return this.profile && profileTraits(this.profile, spec);
  }

  check(spec: InstanceSpec): InstanceSpecIssue[] {
    const issues: InstanceSpecIssue[] = [];
    const refuse = (field: string, code: InstanceSpecIssue['code'], message: string) =>
      issues.push({ field, code, message });
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
    const decision = this.egress.check(spec.tenantName ?? '', baseUrl);
    if (!decision.ok)
      refuse(
        'endpoint.base_url',
        decision.code.endsWith('_not_allowed') ? 'not_allowed' : 'invalid_value',
        decision.code === 'url_not_allowed' ? outsideOf(this.egress.patterns(spec.tenantName ?? '')) : decision.message,
      );
    if (baseUrl.includes('?')) refuse('endpoint.base_url', 'invalid_value', 'must not contain a query');
    if (!PATH.test(healthPath))
      refuse('endpoint.health_path', 'invalid_value', 'must begin with "/" and consist of visible ASCII characters');
    if (credential !== undefined && !BEARER.test(credential)) {
      refuse(
        'endpoint.credential_ref',
        'invalid_value',
        'must name a secret of visible ASCII characters without spaces',
      );
    }
    return issues;
  }

  async checkName(baseUrl: string, tenantName: string): Promise<string | undefined> {
    const check = this.egress.check(tenantName, baseUrl);
    const now = check.ok ? await this.egress.resolved(check) : check;
    // `check` reports URLs that are refused whatever they resolve to.
    return check.ok && !now.ok ? now.message : undefined;
  }

  locationOf({ endpoint }: Pick<InstanceSpec, 'endpoint'>): UnitLocation {
    return { kind: this.kind, url: endpoint?.baseUrl ?? '' };
  }

  /** Starts nothing. Refuses a spec that `check` refuses. */
  async provision(spec: InstanceSpec): Promise<void> {
    assertSpec(this, spec);
  }

  async observe(spec: InstanceSpec): Promise<Observation> {
    const { instanceId, generation, endpoint, probe } = spec;
    if (!endpoint) return { state: 'absent' };
    const history = this.historyOf(instanceId, generation);
    const baseUrl = withoutTrailingSlashes(endpoint.baseUrl);
    const decision = this.egress.check(spec.tenantName ?? '', endpoint.baseUrl);
    if (!decision.ok) {
      const message = `endpoint.base_url ${decision.message}`;
      return { state: 'unhealthy', reason: 'not_allowed', baseUrl, generation, message };
    }
    const answer = await this.ask(spec, baseUrl, history);
    const message = answer.isHealthy ? answer.message : (answer.listMissed ?? missMessage(spec, answer.asked, answer));
    const seen = { baseUrl, generation, ...(message !== undefined && { message }) };
    const state = this.history.note(instanceId, generation, answer.isHealthy, probe.failureThreshold);
    if (answer.isHealthy) await this.lookForModel(spec, history.model, answer.list);
    return this.asItsModelSays(spec, history.model, { ...this.healthOf(spec, state, history, answer), ...seen });
  }

  private healthOf(
    spec: InstanceSpec,
    state: 'ready' | 'unhealthy' | 'undecided',
    history: ProbeHistory,
    answer: Health,
  ): Pick<Observation, 'state' | 'reason' | 'isUnanswered'> {
    if (state === 'ready') return { state };
    if (isPathMissing(history, answer, spec.probe.intervalSeconds))
      return { state: 'unhealthy', reason: 'health_path_missing' };
    if (state === 'unhealthy') return { state, reason: 'probe_failed', ...(answer.cause && { isUnanswered: true }) };
    const timeout = spec.readyTimeoutSeconds ?? this.profile?.warm_up?.timeout_seconds ?? DEFAULT_READY_SECONDS;
    if (performance.now() - history.since < timeout * 1000) return { state: 'starting', reason: 'loading' };
    return { state: 'unhealthy', reason: 'start_timeout' };
  }

  async answers(spec: InstanceSpec, baseUrl: string): Promise<boolean> {
    const history = this.histories.get(spec.instanceId) ?? noHistory(spec.generation);
    return spec.endpoint !== undefined && (await this.ask(spec, baseUrl, history)).isHealthy;
  }

  callable(spec: InstanceSpec, baseUrl: string): CallableServer {
    const { apiPath, credential, dispatcher } = this.question(spec, baseUrl);
    return { baseUrl, apiPath, model: spec.model.id, credential, dispatcher };
  }

  async models(spec: InstanceSpec): Promise<ModelsAnswer> {
    const { endpoint, tenantName = '' } = spec;
    if (!endpoint) return { unknown: 'it has no address' };
    const decision = this.egress.check(tenantName, endpoint.baseUrl);
    if (!decision.ok) return { unknown: `endpoint.base_url ${decision.message}` };
    const { bytes: _bytes, ...answer } = await listModels(this.question(spec, endpoint.baseUrl));
    return answer;
  }

  /** Stops nothing, because the server is not ours. */
  async terminate(instanceId: string): Promise<'gone'> {
    this.history.forget(instanceId);
    this.histories.delete(instanceId);
    return 'gone';
  }

  async list(): Promise<InstanceRef[]> {
    return [];
  }

  async close(): Promise<void> {
    await this.egress.onApplicationShutdown();
  }

  private healthPath(spec: InstanceSpec): string {
    return healthPathOf(this.profile ?? {}, spec);
  }

  /**
   * A list of models is a sign of health if neither the revision nor the profile names a path, and there is no
   * `/health`. Engines such as Ollama have no other. A named path may also be below a base URL that ends in a version: `/models`.
   */
  private async ask(spec: InstanceSpec, baseUrl: string, history: ProbeHistory): Promise<Health> {
    const path = this.healthPath(spec);
    const isNamed = path !== DEFAULT_HEALTH || spec.probe.path !== undefined || this.profile?.health !== undefined;
    const question = this.question(spec, baseUrl);
    const { root, api } = serverUrls(baseUrl, spec.endpoint?.apiPath);
    const asked = `${root}${path}`;
    const message = `it has no /health: the health probe uses GET ${shown(`${api}/models`)} instead`;
    if (!isNamed && history.isListAsked) {
      const list = await listModels(question);
      if ('names' in list) return { isHealthy: true, asked, list, message };
      // It may have become another server, so the next observation begins with `/health` again.
      history.isListAsked = false;
      return { isHealthy: false, asked: `${api}/models`, listMissed: list.unknown };
    }
    const answer = await probeHealth({ ...question, url: asked });
    if (answer.status !== 404) return { ...answer, asked };
    if (isNamed) {
      const below = `${baseUrl}${path}`;
      const other = below === asked ? answer : await probeHealth({ ...question, url: below });
      return other.isHealthy ? { ...other, asked: below } : { ...answer, asked };
    }
    const list = await listModels(question);
    history.isListAsked = 'names' in list;
    return history.isListAsked ? { isHealthy: true, asked, list, message } : { ...answer, asked };
  }

  private async lookForModel(spec: InstanceSpec, model: ModelWatch, list: Health['list']): Promise<void> {
    await model.look(this.question(spec, spec.endpoint!.baseUrl), spec.model.id, this.identityOf(spec), list);
  }

  private identityOf(spec: InstanceSpec): readonly IdentityProof[] {
    return this.traits(spec)?.identity ?? [];
  }

  /**
   * Makes a server unhealthy if it was adopted for its model and now has another, because no request may be sent to it.
   * If its profile names no proof of its model, it must have shown the model once. Lists that never named the model,
   * such as those of servers that answer to any name, prove nothing. A server that has changed stays so until it shows
   * its model, also if it no longer answers, and under the next worker.
   */
  private asItsModelSays(spec: InstanceSpec, model: ModelWatch, seen: Observation): Observation {
    if (model.hasModel) return seen.state === 'ready' ? { ...seen, isModelSeen: true } : seen;
    const { isModelSeen, modelChange } = spec.endpoint ?? {};
    const isBound = isModelSeen || cheapProofs(this.identityOf(spec)).length > 0;
    const change = model.change ?? modelChange;
    if (change === undefined || !isBound) return seen;
    return { ...seen, state: 'unhealthy', reason: 'model_changed', message: change };
  }

  private question({ endpoint, probe, tenantName = '' }: InstanceSpec, baseUrl: string): ServerQuestion {
    return {
      baseUrl,
      apiPath: endpoint?.apiPath,
      timeoutSeconds: probe.timeoutSeconds,
      dispatcher: this.egress.dispatcher(this.egress.patterns(tenantName)),
      credential: endpoint?.credential,
    };
  }

  private historyOf(instanceId: string, generation: number): ProbeHistory {
    const known = this.histories.get(instanceId);
    if (known?.generation === generation) return known;
    const history = noHistory(generation);
    this.histories.set(instanceId, history);
    return history;
  }
}

interface ProbeHistory {
  generation: number;
  /** Time of the first observation, by `performance.now()`. */
  since: number;
  /** Answers of 404 in a row, and the time of the last counted one. Those within one probe interval count once. */
  missing: number;
  missingAt: number;
  /** The server has no `/health`, so its list of models is requested instead. */
  isListAsked: boolean;
  model: ModelWatch;
}

function noHistory(generation: number): ProbeHistory {
  const model = new ModelWatch();
  return { generation, since: performance.now(), missing: 0, missingAt: -Infinity, isListAsked: false, model };
}

/** The result of one probe, the requested URL, and the list, or why there is none, if that was requested. */
type Health = HealthAnswer & { asked: string; list?: Awaited<ReturnType<typeof listModels>>; listMissed?: string };

/** A server that starts may answer 404 for a moment. So observations that are more frequent than probes count once. */
function isPathMissing(history: ProbeHistory, { status }: HealthAnswer, intervalSeconds: number): boolean {
  if (status !== 404) history.missing = 0;
  else if (performance.now() - history.missingAt >= intervalSeconds * 1000 || history.missing === 0) {
    history.missing += 1;
    history.missingAt = performance.now();
  }
  return history.missing >= MISSING_PATH_TIMES;
}

/** @throws TargetConfigError if a pattern is invalid */
function allowOf({ name, allow }: EndpointTargetConfig): readonly AllowEntry[] {
  const problems = allow.flatMap((entry) => problemOf(originOf(entry)));
  if (problems.length > 0) throw new TargetConfigError(name, problems);
  return allow;
}

function problemOf(pattern: string): string[] {
  try {
    parseAllow([pattern]);
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

/** Describes the result of a failed health probe, and names the field of the spec to check. */
function missMessage({ probe }: Pick<InstanceSpec, 'probe'>, asked: string, { status, cause }: HealthAnswer): string {
  const url = shown(asked);
  if (status === undefined) return `${url}: ${cause}`;
  const pathField = probe.path === undefined ? 'endpoint.health_path' : 'probes.path';
  if (status === 404) return `${url} returned 404: set ${pathField} to a path that returns 200`;
  if (status === 401 || status === 403)
    return `${url} returned ${status}: endpoint.credential_ref must name a secret that the server accepts`;
  if (status >= 300 && status < 400)
    return `${url} returned ${status}, and redirects are not followed: set endpoint.base_url to the address of the server itself`;
  return `${url} returned ${status}`;
}

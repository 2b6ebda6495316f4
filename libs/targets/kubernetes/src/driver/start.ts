import type { ObservationReason } from '@slipway/contracts';
import { awayText, type DriverHost, type InstanceSpec } from '@slipway/target-driver';
import { ApiError, isMissingRight, UnreachableError } from '../api/errors.js';
import { DEPLOYMENTS, LEADER_WORKER_SETS, SECRETS } from '../api/kinds.js';
import type { Pod, Secret } from '../api/objects.js';
import type { KubernetesSession } from './session.js';
import { stopUnit } from './stop.js';
import { isTombstone } from '../instances/live-units.js';
import { shownWords } from '../instances/pod-ends.js';
import { isStopped, refusalReason } from '../instances/pod-state.js';
import { namespaceProblem } from '../config/namespace-problems.js';
import { isGroup, namespaceFor, type KubernetesTargetConfig } from '../target-config.js';
import { kindOf, ownerReferenceTo, type Unit } from '../manifests/unit-kind.js';
import { secretOf, unitOf } from '../manifests/unit.js';
import { unitName } from '../manifests/unit-names.js';
import { generationIn } from '../instances/unit-watch.js';

/** The API server refuses a unit. `reason` says whether its template, admission or a quota is the cause. */
export class UnitRefusedError extends Error {
  readonly shown: string;

  constructor(
    readonly reason: ObservationReason,
    cause: ApiError,
    explanation?: string,
  ) {
    super(explanation ?? cause.message, { cause });
    this.name = 'UnitRefusedError';
    this.shown = explanation ?? shownWords(cause.words) ?? cause.message;
  }
}

/**
 * The cluster does not answer, or is too busy to. The instance itself is not the cause. The same call may succeed
 * later.
 */
export class TargetUnavailableError extends Error {
  readonly reason: ObservationReason = 'target_unavailable';
  /** The text for tenants: the server's words, unless they are about the operator's account. */
  readonly shown?: string;

  constructor(cause: Error) {
    super(cause.message, { cause });
    this.name = 'TargetUnavailableError';
    if (!(cause instanceof ApiError) || cause.status === 401 || isMissingRight(cause)) return;
    this.shown = shownWords(cause.words);
  }
}

/** A foreign object has the name of a unit. Nothing starts until a person deletes it. */
export class UnitNameTakenError extends Error {
  constructor(name: string, namespace: string) {
    super(
      `${name} already exists in namespace ${namespace} and does not belong to this instance; delete it so that the instance can start`,
    );
    this.name = 'UnitNameTakenError';
  }
}

/**
 * A start that was decided longer ago is not sent, because the record that its unit was stopped may be gone by then. It
 * is much shorter than the time for which each record stays.
 */
const LATE_AFTER_MS = 60_000;

export interface StartContext {
  config: KubernetesTargetConfig;
  /** The namespaces in which units of the instance may be. */
  namespaces: readonly string[];
  pausePoint: DriverHost['pausePoint'];
}

/**
 * Creates the unit of a generation unless there ever was one. Only a create has the condition "if it never existed": an
 * apply by a late worker would start a stopped unit again.
 * @throws UnitRefusedError, UnitNameTakenError, TargetUnavailableError, ApiError
 */
export async function startUnit(session: KubernetesSession, spec: InstanceSpec, context: StartContext): Promise<void> {
  try {
    await start(session, spec, context);
  } catch (error) {
    throw refusalOf(error, spec, context.config);
  }
}

/**
 * The reason why the last try to start the generation was refused. `isDue`: the next try may be sent. Undefined if the
 * cache shows more than that try can have made.
 */
export function refusedStart(
  { api, watch }: Pick<KubernetesSession, 'api' | 'watch'>,
  spec: InstanceSpec,
  config: KubernetesTargetConfig,
): { reason: ObservationReason; message: string; isDue: boolean; unit?: Unit } | undefined {
  const { units, pods } = watch.of(spec.instanceId);
  const engine = config.engines[spec.runtime.engine ?? ''];
  if (!engine) return undefined;
  // Its Secret exists, if one was necessary.
  if (pods.some(hasRun)) return undefined;
  const name = unitName(spec);
  const unit = units.find(({ metadata }) => metadata.name === name);
  if (units.length > (unit ? 1 : 0) || (unit ? isStopped(unit) : pods.length > 0)) return undefined;
  const kind = unit ? SECRETS : isGroup(engine) ? LEADER_WORKER_SETS : DEPLOYMENTS;
  const namespace = unit?.metadata.namespace ?? namespaceFor(config, spec.tenantName);
  const refused = api.refusalOf(kind, namespace, name);
  if (!refused || !watch.isSyncedIn(namespace)) return undefined;
  const error = refusalOf(refused, spec, config);
  if (!(error instanceof UnitRefusedError || error instanceof TargetUnavailableError)) return undefined;
  const isAway = error instanceof TargetUnavailableError;
  const message = isAway ? awayText(error.shown) : error.shown;
  const isDue = api.creationWaitMs(kind, namespace, name) === 0;
  return { reason: error.reason, message, isDue, ...(unit && { unit }) };
}

async function start(session: KubernetesSession, spec: InstanceSpec, context: StartContext): Promise<void> {
  const { live, watch } = session;
  const begunAt = Date.now();
  const refused = refusedStart(session, spec, context.config);
  if (refused?.unit) return createSecret(session, spec, context.config, refused.unit);
  if (!refused) {
    const found = await live.find(spec.instanceId, context.namespaces);
    if (found.units.some((unit) => generationIn(unit) > spec.generation)) return;
    const own = found.units.find((unit) => generationIn(unit) === spec.generation);
    // The worker that started it may have died between the unit and its Secret.
    if (own && !isStopped(own)) return createSecret(session, spec, context.config, own);
    if (own) return;
    await Promise.all(found.units.filter((unit) => !isTombstone(unit)).map((unit) => stopUnit(session, unit)));
    if (live.isOccupied(found)) return;
  }
  await context.pausePoint('before-unit');
  if (Date.now() - begunAt > LATE_AFTER_MS)
    throw new TargetUnavailableError(new Error('the start was decided too long ago, and is decided again'));
  const created = await createUnit(session, spec, context);
  if (!created) return;
  watch.remember(created);
  await context.pausePoint('after-unit');
  await createSecret(session, spec, context.config, created);
}

/** Undefined if the unit existed before. */
async function createUnit(
  { api, writer, live, refused, crowded }: KubernetesSession,
  spec: InstanceSpec,
  { config, namespaces }: StartContext,
): Promise<Unit | undefined> {
  const namespace = namespaceFor(config, spec.tenantName);
  const unit = unitOf(spec, config, writer);
  const object = { kind: kindOf(unit), namespace, name: unit.metadata.name, owner: spec.instanceId };
  try {
    const created = await api.create<Unit>(object.kind, namespace, unit);
    refused.settle(object);
    return created;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.reason === 'AlreadyExists') {
      // Searches by our labels, so that a foreign object of the name does not count as the unit of another worker.
      const { units } = await live.find(spec.instanceId, namespaces);
      if (units.some(({ metadata }) => metadata.name === unit.metadata.name)) return undefined;
      throw new UnitNameTakenError(unit.metadata.name, namespace);
    }
    refused.note(object, 'created', error);
    if (isQuota(error.words)) crowded.add(namespace);
    throw error;
  }
}

/** Its contents are never in the pod's own spec. It is deleted with its unit. */
async function createSecret(
  { api, writer, refused, secretsMade }: KubernetesSession,
  spec: InstanceSpec,
  config: KubernetesTargetConfig,
  unit: Unit,
): Promise<void> {
  const secret = secretOf(spec, config, writer);
  const { uid = '' } = unit.metadata;
  // A quota would refuse a second creation, before the server notices that the Secret exists.
  if (!secret || secretsMade.has(uid)) return;
  const { namespace = namespaceFor(config, spec.tenantName) } = unit.metadata;
  const ownerReferences = [ownerReferenceTo(unit)];
  const object = { kind: SECRETS, namespace, name: secret.metadata.name, owner: spec.instanceId };
  try {
    await api.create<Secret>(SECRETS, namespace, { ...secret, metadata: { ...secret.metadata, ownerReferences } });
  } catch (error) {
    if (!(error instanceof ApiError && error.reason === 'AlreadyExists')) {
      refused.note(object, 'created', error);
      throw error;
    }
  }
  refused.settle(object);
  secretsMade.set(uid, true);
}

/**
 * The error with the reason why an instance waits. A missing right and a webhook that does not answer are problems of
 * the target, not of the unit.
 */
function refusalOf(error: unknown, { tenantName }: InstanceSpec, config: KubernetesTargetConfig): unknown {
  if (error instanceof UnreachableError) return new TargetUnavailableError(error);
  if (!(error instanceof ApiError)) return error;
  const problem = namespaceProblem(error, config, tenantName);
  if (problem) return new UnitRefusedError(problem.reason, error, problem.message);
  const { status, words, isRetryable } = error;
  const isOfTarget = isRetryable || status === 401 || isMissingRight(error) || status === 404;
  if (isOfTarget && !isQuota(words)) return new TargetUnavailableError(error);
  if (![400, 403, 422].includes(status)) return error;
  const reason = refusalReason(words, status);
  return reason === 'target_unavailable' ? new TargetUnavailableError(error) : new UnitRefusedError(reason, error);
}

/** A container of the pod has started, so the kubelet had everything that it needs. */
function hasRun({ status }: Pod): boolean {
  return (status?.containerStatuses ?? []).some(
    ({ state, restartCount = 0 }) =>
      state?.running !== undefined || state?.terminated !== undefined || restartCount > 0,
  );
}

const isQuota = (words: string): boolean => refusalReason(words) === 'quota_exceeded';

import type { ObservationReason } from '@slipway/contracts';
import type { DriverHost, InstanceSpec } from '@slipway/target-driver';
import { ApiError, UnreachableError } from '../api/errors.js';
import { SECRETS } from '../api/kinds.js';
import type { Secret } from '../api/objects.js';
import type { KubernetesSession } from './session.js';
import { isTombstone } from '../instances/live-units.js';
import { isStopped, refusalReason } from '../instances/pod-state.js';
import { namespaceProblem } from '../config/namespace-problems.js';
import { namespaceFor, type KubernetesTargetConfig } from '../target-config.js';
import { kindOf, ownerReferenceTo, type Unit } from '../manifests/unit-kind.js';
import { secretOf, unitOf } from '../manifests/unit.js';
import { generationIn } from '../instances/unit-watch.js';

/** The API server refuses a unit. `reason` says whether its template, admission or a quota is the cause. */
export class UnitRefusedError extends Error {
  constructor(
    readonly reason: ObservationReason,
    cause: ApiError,
    message = cause.message,
  ) {
    super(message, { cause });
    this.name = 'UnitRefusedError';
  }
}

/**
 * The cluster does not answer, or is too busy to. The instance itself is not the cause. The same call may succeed
 * later.
 */
export class TargetUnavailableError extends Error {
  readonly reason: ObservationReason = 'target_unavailable';

  constructor(cause: Error) {
    super(cause.message, { cause });
    this.name = 'TargetUnavailableError';
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
    const isAway = error instanceof UnreachableError || (error instanceof ApiError && error.isRetryable);
    throw isAway ? new TargetUnavailableError(error) : error;
  }
}

async function start(session: KubernetesSession, spec: InstanceSpec, context: StartContext): Promise<void> {
  const { live, watch } = session;
  const found = await live.find(spec.instanceId, context.namespaces);
  if (found.units.some((unit) => generationIn(unit) > spec.generation)) return;
  const own = found.units.find((unit) => generationIn(unit) === spec.generation);
  // The worker that started it may have died between the unit and its Secret.
  if (own && !isStopped(own)) return createSecret(session, spec, context.config, own);
  if (own) return;
  await Promise.all(found.units.filter((unit) => !isTombstone(unit)).map((unit) => live.stop(unit)));
  if (live.isOccupied(found)) return;
  await context.pausePoint('before-unit');
  const created = await createUnit(session, spec, context);
  if (!created) return;
  watch.remember(created);
  await context.pausePoint('after-unit');
  await createSecret(session, spec, context.config, created);
}

/** Undefined if the unit existed before. */
async function createUnit(
  { api, writer, live }: KubernetesSession,
  spec: InstanceSpec,
  { config, namespaces }: StartContext,
): Promise<Unit | undefined> {
  const namespace = namespaceFor(config, spec.tenantName);
  const unit = unitOf(spec, config, writer);
  try {
    return await api.create<Unit>(kindOf(unit), namespace, unit);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.reason === 'AlreadyExists') {
      // Searches by our labels, so that a foreign object of the name does not count as the unit of another worker.
      const { units } = await live.find(spec.instanceId, namespaces);
      if (units.some(({ metadata }) => metadata.name === unit.metadata.name)) return undefined;
      throw new UnitNameTakenError(unit.metadata.name, namespace);
    }
    const problem = namespaceProblem(error, config, spec.tenantName);
    if (problem) throw new UnitRefusedError(problem.reason, error, problem.message);
    throw isRefusal(error) ? new UnitRefusedError(refusalReason(error.message, error.status), error) : error;
  }
}

/** Its contents are never in the pod's own spec. It is deleted with its unit. */
async function createSecret(
  { api, writer }: KubernetesSession,
  spec: InstanceSpec,
  config: KubernetesTargetConfig,
  unit: Unit,
): Promise<void> {
  const secret = secretOf(spec, config, writer);
  if (!secret) return;
  const { namespace = namespaceFor(config, spec.tenantName) } = unit.metadata;
  const ownerReferences = [ownerReferenceTo(unit)];
  try {
    await api.create<Secret>(SECRETS, namespace, { ...secret, metadata: { ...secret.metadata, ownerReferences } });
  } catch (error) {
    if (!(error instanceof ApiError && error.reason === 'AlreadyExists')) throw error;
  }
}

/** A missing right is a problem of the target, not of the unit. */
function isRefusal({ status, message }: ApiError): boolean {
  if (status === 400 || status === 422) return true;
  return status === 403 && !/cannot create resource/.test(message);
}

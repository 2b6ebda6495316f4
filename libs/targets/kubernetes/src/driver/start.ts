import type { ObservationReason } from '@slipway/contracts';
import type { DriverHost, InstanceSpec } from '@slipway/target-driver';
import { ApiError, UnreachableError } from '../api/errors.js';
import { SECRETS } from '../api/kinds.js';
import type { Secret } from '../api/objects.js';
import type { KubernetesSession } from './session.js';
import { isTombstone } from '../instances/live-units.js';
import { isStopped, refusalReason } from '../instances/pod-state.js';
import { namespaceFor, type KubernetesTargetConfig } from '../target-config.js';
import { kindOf, ownerReferenceTo, type Unit } from '../manifests/unit-kind.js';
import { secretOf, unitOf } from '../manifests/unit.js';
import { generationIn } from '../instances/unit-watch.js';

/** The API server refuses a unit. `reason` says whether its template, admission or a quota is in the way. */
export class UnitRefusedError extends Error {
  constructor(
    readonly reason: ObservationReason,
    cause: ApiError,
  ) {
    super(cause.message, { cause });
    this.name = 'UnitRefusedError';
  }
}

/** The cluster does not answer, or is too busy to: no fault of what is to be started. The same call may go well later. */
export class TargetUnavailableError extends Error {
  readonly reason: ObservationReason = 'target_unavailable';

  constructor(cause: Error) {
    super(cause.message, { cause });
    this.name = 'TargetUnavailableError';
  }
}

/** An object that is none of ours has the name of a unit. Nothing is started until somebody takes it away. */
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
  /** Where units of the instance may be. */
  namespaces: readonly string[];
  pausePoint: DriverHost['pausePoint'];
}

/**
 * Creates the unit of a generation unless there ever was one. Only a create can say "if it never existed": an apply by a worker that comes
 * late would start again what was stopped.
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
  // Its starter may have died between the unit and its secret.
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

/** Undefined where it was there before. */
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
      // Found by our labels, so that whatever else has the name is not taken for a unit that another worker made.
      const { units } = await live.find(spec.instanceId, namespaces);
      if (units.some(({ metadata }) => metadata.name === unit.metadata.name)) return undefined;
      throw new UnitNameTakenError(unit.metadata.name, namespace);
    }
    throw isRefusal(error) ? new UnitRefusedError(refusalReason(error.message, error.status), error) : error;
  }
}

/** What stands in it is never in the pod's own spec. It goes with its unit. */
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

/** A right that is missing is the target's matter, not the unit's. */
function isRefusal({ status, message }: ApiError): boolean {
  if (status === 400 || status === 422) return true;
  return status === 403 && !/cannot create resource/.test(message);
}

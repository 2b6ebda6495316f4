import type { KubeObject, Status } from '../../src/api/objects.js';

const REASONS: Record<number, string> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  410: 'Expired',
  413: 'RequestEntityTooLarge',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** An answer that is a refusal. */
export class Refusal extends Error {
  readonly status: Status;

  constructor(
    readonly code: number,
    message: string,
    reason = REASONS[code] ?? '',
    details?: Status['details'],
    readonly retryAfterSeconds = details?.retryAfterSeconds,
  ) {
    super(message);
    this.status = { kind: 'Status', status: 'Failure', code, reason, message, details };
  }
}

export const notFound = (plural: string, name: string): Refusal =>
  new Refusal(404, `${plural} "${name}" not found`, 'NotFound', { name, kind: plural });

const EXPIRED = 'The provided resource version is too old, or the continue token has expired';
export const expired = (): Refusal => new Refusal(410, EXPIRED);

/** Fields of a Deployment's spec. Any other is refused, as with `fieldValidation=Strict`. */
const DEPLOYMENT_FIELDS = new Set([
  'replicas',
  'selector',
  'template',
  'strategy',
  'minReadySeconds',
  'revisionHistoryLimit',
  'paused',
  'progressDeadlineSeconds',
]);

/**
 * Refuses an object that a server would refuse. For Deployments it checks the parts that are most easily wrong.
 * @throws Refusal if the object is invalid
 */
export function assertValid(plural: string, object: KubeObject, isStrict: boolean): void {
  const { name = '' } = object.metadata;
  if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name))
    throw invalid(plural, name, 'metadata.name', 'must be a DNS name');
  if (plural === 'leaderworkersets' && !(object.spec as Record<string, unknown> | undefined)?.['leaderWorkerTemplate'])
    throw invalid(plural, name, 'spec.leaderWorkerTemplate', 'Required value');
  if (plural !== 'deployments') return;
  const spec = (object.spec ?? {}) as Record<string, any>;
  const unknown = Object.keys(spec).find((field) => !DEPLOYMENT_FIELDS.has(field));
  if (unknown && isStrict) throw new Refusal(400, `strict decoding error: unknown field "spec.${unknown}"`);
  const wanted = spec.selector?.matchLabels;
  const labels = spec.template?.metadata?.labels ?? {};
  if (!wanted) throw invalid(plural, name, 'spec.selector', 'Required value');
  if (!Array.isArray(spec.template?.spec?.containers) || spec.template.spec.containers.length === 0)
    throw invalid(plural, name, 'spec.template.spec.containers', 'Required value');
  if (Object.entries(wanted).some(([key, value]) => labels[key] !== value))
    throw invalid(plural, name, 'spec.template.metadata.labels', '`selector` does not match template `labels`');
}

function invalid(plural: string, name: string, field: string, message: string): Refusal {
  const details = { name, kind: plural, causes: [{ reason: 'FieldValueInvalid', field, message }] };
  return new Refusal(422, `${plural} "${name}" is invalid: ${field}: ${message}`, 'Invalid', details);
}

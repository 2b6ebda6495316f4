import { createHash } from 'node:crypto';
import type { InstanceSpec } from '@slipway/target-driver';
import type { KubeObject } from '../api/objects.js';

/** The prefix of our labels and annotations. */
export const OURS = 'slipway.dev';

/** Labels of everything that we create. */
export const LABEL = {
  managedBy: 'app.kubernetes.io/managed-by',
  name: 'app.kubernetes.io/name',
  installation: `${OURS}/installation`,
  target: `${OURS}/target`,
  tenant: `${OURS}/tenant`,
  deployment: `${OURS}/deployment`,
  revision: `${OURS}/revision`,
  instance: `${OURS}/instance`,
  ordinal: `${OURS}/ordinal`,
  generation: `${OURS}/generation`,
} as const;

/**
 * The index of a pod in its group, which the controller of LeaderWorkerSets writes: 0 leads and serves, the others work
 * for it.
 */
export const WORKER_INDEX = 'leaderworkerset.sigs.k8s.io/worker-index';

/**
 * LeaderWorkerSets with longer names cannot start their workers: the hash of a revision is appended, and labels end at
 * 63.
 */
export const LONGEST_UNIT_NAME = 51;
const LONGEST_SLUG = 24;
const REVISION_DIGITS = 12;
/** Limit of the names of shared objects of a revision. */
export const LONGEST_REVISION_NAME = 'slw-'.length + LONGEST_SLUG + '-'.length + REVISION_DIGITS;
const LONGEST_LABEL = 63;

const UUID_END = /^[0-9a-f-]*[0-9a-f]{12}$/;
const LABEL_VALUE = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const UNIT_NAME = /^slw-[a-z0-9](?:[-a-z0-9]*[a-z0-9])?-\d+-[0-9a-f]{8}-g(\d{1,15})$/;

type UnitIdentity = Pick<InstanceSpec, 'instanceId' | 'generation' | 'owner'>;

/**
 * The only name that a generation of an instance can have: the API server refuses a second creation.
 * `slw-<revision>-<ordinal>-<end of the instance's id>-g<generation>`
 * @throws RangeError if its numbers are too long for a name
 */
export function unitName({ instanceId, generation, owner }: UnitIdentity): string {
  const end = `-${owner?.ordinal ?? 0}-${idEnd(instanceId)}-g${generation}`;
  const available = Math.min(LONGEST_SLUG, LONGEST_UNIT_NAME - 'slw-'.length - end.length);
  if (available < 1)
    throw new RangeError(`the unit name for generation ${generation} of instance ${instanceId} is too long`);
  return `slw-${slug(owner?.revisionName ?? instanceId, available)}${end}`;
}

/**
 * The name of shared objects of a revision. It may be longer than a unit's, because two revisions of one name would
 * select each other's pods.
 */
export function revisionObjectName({ instanceId, owner }: UnitIdentity): string {
  return `slw-${slug(owner?.revisionName ?? instanceId, LONGEST_SLUG)}-${idEnd(owner?.revisionId ?? instanceId, REVISION_DIGITS)}`;
}

/** The name of a unit's own Service. A group's own name is that of the Service by which its pods find their leader. */
export function unitServiceName(unit: string, isGroup: boolean): string {
  return isGroup ? `${unit}-leader` : unit;
}

/** The generation in a unit's name; undefined for a name that is not ours. */
export function generationInName(name: string): number | undefined {
  const digits = UNIT_NAME.exec(name)?.[1];
  const generation = Number(digits);
  return digits !== undefined && generation >= 1 && !digits.startsWith('0') ? generation : undefined;
}

/**
 * The generation of a unit, whose name no client can change, or of its pod. 0, which no generation has, for other
 * objects.
 */
export function generationOf({ metadata: { name, labels } }: Pick<KubeObject, 'metadata'>): number {
  const written = labels?.[LABEL.generation] ?? '';
  return generationInName(name) ?? (/^[1-9]\d{0,14}$/.test(written) ? Number(written) : 0);
}

/** The instance of a unit or a pod, from its label; undefined for foreign objects. */
export function instanceLabelOf({ metadata: { labels } }: Pick<KubeObject, 'metadata'>): string | undefined {
  return labels?.[LABEL.instance];
}

/**
 * A text as a label value: the text itself if it is valid, otherwise its valid part with a hash that keeps it distinct.
 */
export function labelValue(text: string): string {
  if (text.length <= LONGEST_LABEL && LABEL_VALUE.test(text)) return text;
  const hash = hexOf(text).slice(0, 12);
  const kept = text.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-/, '');
  return `${kept.slice(0, LONGEST_LABEL - hash.length - 1)}.${hash}`.replace(/^\./, 'x.').replace(/-\./, '.');
}

function slug(text: string, most: number): string {
  const plain = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '');
  return plain.slice(0, most).replace(/-$/, '') || 'r';
}

/** Random ids differ most at their end. Of any other id the hash is used. */
function idEnd(id: string, digits: 8 | 12 = 8): string {
  return UUID_END.test(id) ? id.slice(-digits) : hexOf(id).slice(0, digits);
}

function hexOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

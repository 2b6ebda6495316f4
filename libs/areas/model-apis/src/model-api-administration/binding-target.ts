import { createHmac, type KeyObject } from 'node:crypto';
import { endpointUrls, serverUrls, withoutTrailingSlashes, type RevisionSpec } from '@slipway/contracts';
import { digestOf } from '@slipway/platform-database';
import type { FieldIssue } from '@slipway/platform-http';
import type { BindingTargetDto, BoundTargetDto } from './binding.dto.js';

const REVISION_FORM = ['deployment', 'revision'] as const;
const SUPPLIER_FORM = ['supplier', 'base_url', 'model', 'credential'] as const;
const SUPPLIER_REQUIRED = ['supplier', 'base_url', 'model'] as const;

/** Returns every reason why the target has neither of the two forms, or both. */
export function targetIssues(target: BindingTargetDto): FieldIssue[] {
  const isGiven = (field: keyof BindingTargetDto): boolean => target[field] !== undefined;
  const isRevision = REVISION_FORM.some(isGiven);
  const isSupplier = SUPPLIER_FORM.some(isGiven);
  if (isRevision === isSupplier) {
    const message = 'target must be either {deployment, revision} or {supplier, base_url, model, credential}';
    return [{ field: 'target', code: isRevision ? 'ambiguous' : 'required', message }];
  }
  const required = isRevision ? REVISION_FORM : SUPPLIER_REQUIRED;
  return required
    .filter((field) => !isGiven(field))
    .map((field) => ({ field: `target.${field}`, code: 'required', message: `target.${field} is required` }));
}

/** Returns one spelling for one server: a base URL with and without a trailing slash leads to the same paths. */
export function canonicalBaseUrl(url: string): string {
  return withoutTrailingSlashes(url);
}

/** Returns the APIs of the servers that a revision adopts, in one spelling each. Sorted, because each is locked. */
export function adoptedUrls({ endpoint }: Pick<RevisionSpec, 'endpoint'>): string[] {
  return endpointUrls(endpoint)
    .map((url) => serverUrls(url, endpoint?.api_path).api)
    .sort();
}

/**
 * Returns a digest that is equal for equal targets. The credential is a part of it, so that a new one makes a new
 * binding, but only through a keyed hash: the digest is shown, and must not help to guess the credential.
 */
export function targetDigest(key: KeyObject, target: BoundTargetDto, credential: string | undefined): string {
  const { deployment_id, revision_id, supplier, base_url, model } = target;
  if (revision_id !== undefined) return digestOf({ deployment_id, revision_id });
  const credentialHash =
    credential === undefined
      ? null
      : createHmac('sha256', key).update(`model api credential\0${credential}`).digest('hex');
  return digestOf({ supplier, base_url, model, credential: credentialHash });
}

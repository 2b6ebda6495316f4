import { createHmac } from 'node:crypto';
import type { KeyRing } from '@slipway/platform-config/load';
import type { SealedColumn } from '@slipway/platform-database';
import { openSecret } from '@slipway/platform-database/secret-box';
import { ANNOUNCE_BACKENDS } from './backend.query.js';
import type { PublishedBinding } from './published.js';
import { ANNOUNCE_SLUGS } from './slug.query.js';

/** Returns the context that binds the credential of a published revision to its tenant's row, and to no other. */
export function backendContext(tenantId: string, revisionId: string): string {
  return `backend/${tenantId}/${revisionId}`;
}

/** Returns the context that a supplier's credential in a published product is bound to. */
export function supplierContext(tenantId: string, bindingId: string): string {
  return `supplier/${tenantId}/${bindingId}`;
}

/**
 * Opens a credential of a published row. Older versions sealed credentials without a key id and without a context.
 * @throws SecretBoxError as `openSecret` does
 */
export function openPublished(keyRing: Pick<KeyRing, 'all' | 'byId'>, sealed: string, context: string): string {
  return openSecret(keyRing, sealed, sealed.startsWith('v1.') ? '' : context);
}

interface PublishedBindings {
  tenant_id: string;
  bindings: PublishedBinding[];
}

/** Gateways keep copies, on disk too, so they are notified of a row that was sealed anew. */
export const sealed: readonly SealedColumn[] = [
  {
    table: 'dataplane_backends',
    id: 'revision_id',
    column: 'credential',
    contextColumns: ['tenant_id'],
    open: openPublished,
    renewed: (row, reseal) => {
      const { tenant_id, revision_id, credential } = row as Record<string, string>;
      return reseal(credential as string, backendContext(tenant_id as string, revision_id as string));
    },
    onResealed: async (tx, ids) => void (await tx.query(ANNOUNCE_BACKENDS, [ids])),
  },
  {
    table: 'dataplane_published',
    id: 'slug',
    column: 'bindings',
    contextColumns: ['tenant_id'],
    texts: `select b #>> '{upstream,credential}' from jsonb_array_elements(t.bindings) b`,
    open: openPublished,
    renewed: (row, reseal) => {
      const { tenant_id, bindings } = row as unknown as PublishedBindings;
      return bindings.map((binding) => {
        const { upstream } = binding;
        if (upstream.kind !== 'supplier' || upstream.credential === null) return binding;
        const credential = reseal(upstream.credential, supplierContext(tenant_id, binding.binding_id));
        return { ...binding, upstream: { ...upstream, credential } };
      });
    },
    onResealed: async (tx, ids) => void (await tx.query(ANNOUNCE_SLUGS, [ids])),
  },
];

export interface InstanceKeyParts {
  instanceId: string;
  generation: number;
  /**
   * The key of the ring from which it was derived at the start: a running engine keeps its key while the ring rotates.
   */
  keyId: string;
}

/**
 * Returns the key of one start of an engine: 43 characters of base64url. Worker and gateways derive the same key, so it
 * is stored nowhere.
 * @throws RangeError if the ring has no such key
 */
export function instanceKey(
  keyRing: Pick<KeyRing, 'derive'>,
  { instanceId, generation, keyId }: InstanceKeyParts,
): string {
  const key = keyRing.derive('slipway engine key', keyId);
  return createHmac('sha256', key).update(`${instanceId}/${generation}`).digest('base64url');
}

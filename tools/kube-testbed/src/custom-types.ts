import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import type { ClusterAccess } from './access.js';
import { KubeClient } from './client.js';
import { CUSTOM_RESOURCES, type KubeObject } from './objects.js';
import { eventually } from './waiting.js';

/** File with the definition of InferencePools, next to the programs, for `kubeItWith` and `addType`. */
export const INFERENCE_POOL_TYPE = 'inference-pool-crd.yaml';

/**
 * Adds a type to a whole control plane, from a definition that was built with it. A test that adds one needs its own
 * control plane.
 */
export async function addType(access: ClusterAccess, file: string): Promise<void> {
  const client = new KubeClient(access, access.token);
  try {
    const definition = parse(readFileSync(path.join(access.bin, file), 'utf8')) as KubeObject;
    await client.create(CUSTOM_RESOURCES, definition);
    await eventually(`the type of ${file} is known`, () => isKnown(client, definition.metadata.name as string));
  } finally {
    await client.close();
  }
}

async function isKnown(client: KubeClient, name: string): Promise<boolean> {
  const definition = await client.get(CUSTOM_RESOURCES, { name });
  const conditions: { type: string; status: string }[] = definition['status']?.conditions ?? [];
  return conditions.some(({ type, status }) => type === 'Established' && status === 'True');
}

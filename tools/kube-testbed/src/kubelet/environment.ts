import { isNotFound, type KubeClient } from '../client.js';
import { CONFIG_MAPS, SECRETS, type ContainerSpec, type Pod, type Resource } from '../objects.js';

/** A reference to something that does not exist: the kubelet waits before it starts the container. */
export class ConfigError extends Error {}

const MOST_EXPANDED_BYTES = 1 << 20;

/** Returns the variables of a container, and reads the values of references from the API server. @throws ConfigError */
export async function environmentOf(
  client: KubeClient,
  pod: Pod,
  container: ContainerSpec,
  address: string,
): Promise<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const { name, value, valueFrom } of container.env ?? []) {
    const { namespace } = pod.metadata;
    if (valueFrom?.secretKeyRef) {
      const found = await keyOf(client, SECRETS, 'secret', namespace, valueFrom.secretKeyRef);
      if (found !== undefined) values[name] = Buffer.from(found, 'base64').toString('utf8');
    } else if (valueFrom?.configMapKeyRef) {
      const found = await keyOf(client, CONFIG_MAPS, 'configmap', namespace, valueFrom.configMapKeyRef);
      if (found !== undefined) values[name] = found;
    } else if (valueFrom?.fieldRef) {
      values[name] = fieldOf(pod, valueFrom.fieldRef.fieldPath, address);
    } else {
      // A variable can refer only to variables that are listed before it.
      values[name] = expand(value ?? '', values);
    }
  }
  return values;
}

/** Returns the command and arguments of the pod, with variables expanded. */
export function argvOf(container: ContainerSpec, values: Readonly<Record<string, string>>): string[] {
  return [...(container.command ?? []), ...(container.args ?? [])].map((one) => expand(one, values));
}

/**
 * Expands `$(NAME)` to its value, or leaves it unchanged if there is no such variable; `$$` becomes `$`, so `$$(NAME)`
 * is text. A kubelet does the same with command, args and values.
 */
export function expand(text: string, values: Readonly<Record<string, string>>): string {
  const filled = text.replace(/\$(?:\$|\(([^)]*)\))/g, (whole, name: string | undefined) =>
    name === undefined ? '$' : Object.hasOwn(values, name) ? (values[name] as string) : whole,
  );
  if (filled.length > MOST_EXPANDED_BYTES)
    throw new ConfigError('a value is too long once its variables are filled in');
  return filled;
}

async function keyOf(
  client: KubeClient,
  resource: Resource,
  what: string,
  namespace: string,
  ref: { name: string; key: string; optional?: boolean },
): Promise<string | undefined> {
  const found = await client.get(resource, { namespace, name: ref.name }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  const value: unknown = found?.['data']?.[ref.key];
  if (typeof value === 'string') return value;
  if (ref.optional) return undefined;
  throw new ConfigError(
    found
      ? `couldn't find key ${ref.key} in ${what === 'secret' ? 'Secret' : 'ConfigMap'} ${namespace}/${ref.name}`
      : `${what} "${ref.name}" not found`,
  );
}

function fieldOf(pod: Pod, path: string, address: string): string {
  if (path === 'status.podIP') return address;
  if (path === 'spec.nodeName') return pod.spec.nodeName ?? '';
  const [, kind, key] = /^metadata\.(labels|annotations)\['([^']+)'\]$/.exec(path) ?? [];
  if (kind !== undefined && key !== undefined) return pod.metadata[kind as 'labels' | 'annotations']?.[key] ?? '';
  const [, field] = /^metadata\.(name|namespace|uid)$/.exec(path) ?? [];
  if (field !== undefined) return pod.metadata[field as 'name' | 'namespace' | 'uid'];
  throw new ConfigError(`the bed's kubelet knows no field ${path}`);
}

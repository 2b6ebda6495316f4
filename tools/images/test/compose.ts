import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export interface Mount {
  /** A name, or a path that begins with `./`. Undefined: the container has a volume of its own. */
  source?: string;
  target: string;
  isReadOnly: boolean;
}

export type Condition = 'service_started' | 'service_healthy' | 'service_completed_successfully';

export interface Service {
  /** The target of the Dockerfile, or an image of a registry. */
  build?: { target: string };
  image?: string;
  command?: string[];
  environment: Record<string, string>;
  mounts: Mount[];
  tmpfs: string[];
  user?: string;
  replicas: number;
  dependsOn: Record<string, Condition>;
  /** Replaces the health check of the image. `[]`: none. */
  healthcheck?: string[];
  /** A fixed address in `front`. */
  address?: string;
  isRestarted: boolean;
  stopSeconds: number;
  /** Not started by `docker compose up`. */
  isOptional: boolean;
}

export type Variables = Record<string, string | undefined>;

type WrittenMount = string | { type: string; source?: string; target: string; read_only?: boolean };

interface WrittenService {
  build?: { target: string };
  image?: string;
  command?: string[];
  environment?: Record<string, string | null>;
  volumes?: WrittenMount[];
  tmpfs?: string[];
  user?: string;
  deploy?: { replicas?: number };
  depends_on?: Record<string, { condition: Condition }>;
  healthcheck?: { test?: string[]; disable?: boolean };
  networks?: string[] | Record<string, { ipv4_address?: string }>;
  restart?: string;
  stop_grace_period?: string;
  profiles?: string[];
}

interface ComposeFile {
  services: Record<string, WrittenService>;
  networks: { front: { ipam: { config: { gateway: string; ip_range: string }[] } } };
}

const read = (file: string): ComposeFile => parse(readFileSync(file, 'utf8'), { merge: true }) as ComposeFile;

/** The services of a Compose file, with the variables of an `.env` file inserted as Compose does. */
export function servicesOf(file: string, variables: Variables): Record<string, Service> {
  return Object.fromEntries(
    Object.entries(read(file).services).map(([name, service]) => [name, inserted(service, variables)]),
  );
}

/** The network `front`: the address of the host, and the first address that a container gets. */
export function frontOf(file: string): { gateway: string; first: string } {
  const [{ gateway, ip_range: range }] = read(file).networks.front.ipam.config as [
    { gateway: string; ip_range: string },
  ];
  return { gateway, first: range.split('/')[0]! };
}

/** The variables of an `.env` file. */
export function variablesIn(text: string): Variables {
  return Object.fromEntries([...text.matchAll(/^([A-Z][A-Z0-9_]*)=(.*)$/gm)].map(([, name, value]) => [name, value]));
}

function inserted(service: WrittenService, variables: Variables): Service {
  const { build, image, command, user, deploy, depends_on = {}, tmpfs = [], networks = [] } = service;
  const address = Array.isArray(networks) ? undefined : networks['front']?.ipv4_address;
  const healthcheck = service.healthcheck?.disable
    ? []
    : service.healthcheck?.test?.map((word) => insert(word, variables));
  return {
    ...(build && { build }),
    ...(image && { image }),
    ...(command && { command: command.map((word) => insert(word, variables)) }),
    ...(user && { user }),
    ...(address && { address }),
    ...(healthcheck && { healthcheck }),
    environment: environmentOf(service, variables),
    mounts: (service.volumes ?? []).map((volume) => mountOf(volume, variables)),
    tmpfs,
    replicas: deploy?.replicas ?? 1,
    dependsOn: Object.fromEntries(Object.entries(depends_on).map(([name, { condition }]) => [name, condition])),
    isRestarted: service.restart === 'unless-stopped',
    stopSeconds: Number.parseInt(service.stop_grace_period ?? '10s', 10),
    isOptional: service.profiles !== undefined,
  };
}

function environmentOf({ environment = {} }: WrittenService, variables: Variables): Record<string, string> {
  // A variable without a value is passed on if it is set.
  const given = Object.entries(environment).map(([name, value]) => [
    name,
    value === null ? variables[name] : insert(value, variables),
  ]);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined)) as Record<string, string>;
}

function mountOf(volume: WrittenMount, variables: Variables): Mount {
  if (typeof volume !== 'string') {
    const { source, target, read_only: isReadOnly = false } = volume;
    return { ...(source && { source }), target, isReadOnly };
  }
  const [source, target, mode] = insert(volume, variables).split(':');
  return target === undefined
    ? { target: source!, isReadOnly: false }
    : { source: source!, target, isReadOnly: mode === 'ro' };
}

/** Replaces `${NAME}`, `${NAME:-default}` and `${NAME:?message}`, which may be nested, and `$$`. */
export function insert(text: string, variables: Variables): string {
  let result = '';
  for (let at = 0; at < text.length; at += 1) {
    if (text.startsWith('$$', at)) {
      result += '$';
      at += 1;
    } else if (text.startsWith('${', at)) {
      const end = closingBrace(text, at + 2);
      result += valueOf(text.slice(at + 2, end), variables);
      at = end;
    } else result += text[at];
  }
  return result;
}

function closingBrace(text: string, from: number): number {
  for (let at = from, depth = 1; at < text.length; at += 1) {
    if (text.startsWith('${', at)) depth += 1;
    else if (text[at] === '}' && --depth === 0) return at;
  }
  throw new Error(`a brace is not closed: ${text}`);
}

function valueOf(expression: string, variables: Variables): string {
  const [, name, operator, rest = ''] = /^(\w+)(?:(:[-?])([^]*))?$/.exec(expression) ?? [];
  if (name === undefined) throw new Error(`unknown expression: ${expression}`);
  const value = variables[name];
  if (value) return value;
  if (operator === ':?') throw new Error(`${name}: ${rest}`);
  return operator === ':-' ? insert(rest, variables) : '';
}

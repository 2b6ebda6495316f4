import type { Container, PodSpec } from '../api/objects.js';
import { isBag } from './pod-merge.js';

type Bag = Record<string, unknown>;

/**
 * The capabilities that a container may add: those that Pod Security `baseline` allows, because every container runtime
 * gives them, and IPC_LOCK, which InfiniBand needs. Each other one is a way to the node.
 */
const CAPABILITIES = new Set([
  ...['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD', 'NET_BIND_SERVICE'],
  ...['SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT', 'IPC_LOCK'],
]);
/** Sources of a projected volume that prove an identity to others. */
const IDENTITIES = ['serviceAccountToken', 'podCertificate'];
/** Fields of a pod that show it the processes or the memory of its node. */
export const NODE_FIELDS = ['hostPID', 'hostIPC'] as const;

/** The capabilities that a container would add, but may not. */
export function refusedCapabilities(context: unknown): unknown[] {
  return added(context).filter((one) => !mayAdd(one));
}

/** Whether the container would run as a process of a Windows node. */
export function isHostProcess(context: unknown): boolean {
  return mapping(mapping(context)['windowsOptions'])['hostProcess'] === true;
}

/** Whether /proc of the container would show what a runtime hides. */
export function isUnmasked(context: unknown): boolean {
  const { procMount } = mapping(context);
  return procMount !== undefined && procMount !== null && procMount !== 'Default';
}

/** The sources of a volume that give a pod an identity, as indices of the list and names. */
export function identitiesOf(volume: unknown): [index: number, name: string][] {
  return listed(mapping(mapping(volume)['projected'])['sources']).flatMap((source, index) =>
    IDENTITIES.filter((name) => isSet(mapping(source)[name])).map((name): [number, string] => [index, name]),
  );
}

/** The pod without a token and without privileges, whatever it contained. */
export function protectedPod(pod: PodSpec): PodSpec {
  const rest = Object.fromEntries(Object.entries(pod).filter(([key]) => !NODE_FIELDS.some((one) => one === key)));
  return {
    ...rest,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: {
      ...withoutHostProcess(mapping(pod['securityContext'])),
      seccompProfile: profileOf(pod['securityContext']),
    },
    containers: listed<Container>(pod.containers).map(protectedContainer),
    ...(pod.initContainers && { initContainers: listed<Container>(pod.initContainers).map(protectedContainer) }),
    ...(Array.isArray(pod['volumes']) && { volumes: (pod['volumes'] as unknown[]).map(withoutIdentity) }),
  };
}

export function protectedContainer(container: Container): Container {
  const given = mapping(container['securityContext']);
  const { privileged: _none, seccompProfile, capabilities, procMount: _mount, ...context } = withoutHostProcess(given);
  return {
    ...container,
    securityContext: {
      ...context,
      ...(capabilities !== undefined && { capabilities: allowedOf(capabilities) }),
      allowPrivilegeEscalation: false,
      ...(isBag(seccompProfile) && { seccompProfile: profileOf(given) }),
    },
  };
}

function allowedOf(capabilities: unknown): unknown {
  if (!isBag(capabilities)) return {};
  const { add, ...rest } = capabilities;
  const allowed = listed(add).filter(mayAdd);
  return allowed.length === 0 ? rest : { ...rest, add: allowed };
}

function added(context: unknown): unknown[] {
  return listed(mapping(mapping(context)['capabilities'])['add']);
}

/** Runtimes accept both cases, with and without the prefix. */
function mayAdd(capability: unknown): boolean {
  return typeof capability === 'string' && CAPABILITIES.has(capability.toUpperCase().replace(/^CAP_/, ''));
}

function withoutHostProcess(context: Bag): Bag {
  if (!isHostProcess(context)) return context;
  const { hostProcess: _none, ...options } = mapping(context['windowsOptions']);
  return { ...context, windowsOptions: options };
}

function withoutIdentity(volume: unknown): unknown {
  if (identitiesOf(volume).length === 0) return volume;
  const { projected } = volume as { projected: Bag };
  const sources = listed(projected['sources'])
    .map((source) => Object.fromEntries(Object.entries(mapping(source)).filter(([name]) => !IDENTITIES.includes(name))))
    .filter((source) => Object.keys(source).length > 0);
  return { ...(volume as Bag), projected: { ...projected, sources } };
}

function profileOf(context: unknown): unknown {
  const profile = mapping(mapping(context)['seccompProfile']);
  return profile['type'] === 'Localhost' ? profile : { type: 'RuntimeDefault' };
}

export function listed<T = unknown>(value: unknown): T[] {
  return Array.isArray(value) ? (value as T[]) : [];
}

export function mapping(value: unknown): Bag {
  return isBag(value) ? value : {};
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

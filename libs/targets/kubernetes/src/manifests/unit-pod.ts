import type { InstanceSpec } from '@slipway/target-driver';
import type { Container, EnvVar, PodSpec, PodTemplate } from '../api/objects.js';
import { mergePod } from './pod-merge.js';
import { listed, mapping, protectedContainer, protectedPod } from './pod-protection.js';
import { ENGINE_CONTAINER } from './unit-kind.js';
import { placementOf } from './unit-placement.js';
import { engineOf, type KubernetesEngine, type KubernetesTargetConfig, type PodPart } from '../target-config.js';
import { commandOf, environmentOf, workerCommandOf } from './unit-environment.js';
import { PORT_NAME, probesOf } from './unit-probes.js';
import { acceleratorOf, grantedAmounts } from './unit-resources.js';

/** The time from the decision to end the pod until SIGTERM. Requests continue while gateways learn of it. */
const BEFORE_SIGNAL_SECONDS = 10;

/** Fields that the operator's part of a template cannot change. */
const OURS = ['image', 'command', 'args', 'startupProbe', 'readinessProbe', 'livenessProbe'];

/** Whether a pod serves, or works for one that does. */
export type PodRole = 'serves' | 'works';

/**
 * The pods of a unit: the part of every engine, the operator's part over it, and over both the part that cannot be
 * changed.
 */
export function podTemplateOf(
  spec: InstanceSpec,
  config: KubernetesTargetConfig,
  { labels, annotations, role }: { labels: Record<string, string>; annotations: Record<string, string>; role: PodRole },
): PodTemplate {
  const engine = engineOf(config, spec.runtime.engine);
  const part: PodPart = role === 'serves' ? engine.pod : engine.worker_pod;
  const ours = { ...defaultsOf(engine), ...(role === 'serves' && placementOf(engine, labels)) };
  const merged = mergePod<PodTemplate>({ metadata: {}, spec: ours }, part);
  const metadata = mergePod(merged.metadata ?? {}, {
    labels,
    ...(Object.keys(annotations).length > 0 && { annotations }),
  });
  return { metadata, spec: placed(enforced(merged.spec, { spec, engine, config, role }), spec, engine, config) };
}

function defaultsOf(engine: KubernetesEngine): PodSpec {
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name: ENGINE_CONTAINER,
        resources: engine.resources,
        // If an engine writes no termination message, the end of its log is better than nothing.
        terminationMessagePolicy: 'FallbackToLogsOnError',
      },
    ],
  };
}

interface PodRequest {
  spec: InstanceSpec;
  engine: KubernetesEngine;
  config: KubernetesTargetConfig;
  role: PodRole;
}

/**
 * Enforced again after the merge. The reader of the file refuses what would undo it; this protects against a gap in the
 * reader.
 */
function enforced(pod: PodSpec, wanted: PodRequest): PodSpec {
  const { engine } = wanted;
  const { restartPolicy: _own, ...rest } = protectedPod(pod);
  const { containers } = rest;
  const hasEngine = containers.some(({ name }) => name === ENGINE_CONTAINER);
  return {
    ...rest,
    terminationGracePeriodSeconds: BEFORE_SIGNAL_SECONDS + engine.stop.grace_seconds,
    containers: (hasEngine ? containers : [protectedContainer({ name: ENGINE_CONTAINER }), ...containers]).map((one) =>
      one.name === ENGINE_CONTAINER ? engineContainer(one, wanted) : one,
    ),
  };
}

function engineContainer(container: Container, { spec, engine, config, role }: PodRequest): Container {
  const kept = Object.fromEntries(Object.entries(container).filter(([key]) => !OURS.includes(key))) as Container;
  const { command, args } = role === 'serves' ? commandOf(spec, engine) : workerCommandOf(spec, engine);
  const { env } = environmentOf(spec, config);
  return {
    ...kept,
    resources: mergePod(mapping(kept['resources']), grantedAmounts(spec, engine, config)),
    env: inOrder(env, listed<EnvVar>(kept.env)),
    image: engine.image,
    command,
    ...(args.length > 0 && { args }),
    ...(role === 'serves' && {
      ports: [
        { name: PORT_NAME, containerPort: engine.port, protocol: 'TCP' },
        ...listed<NonNullable<Container['ports']>[number]>(kept.ports).filter(({ name }) => name !== PORT_NAME),
      ],
      ...probesOf(spec, engine),
    }),
    lifecycle: { ...mapping(kept['lifecycle']), preStop: { sleep: { seconds: BEFORE_SIGNAL_SECONDS } } },
  };
}

/**
 * Orders variables so that each follows those that it may use: the operator's variables use the engine's key, and the
 * engine's texts use values that only a pod knows, such as its address.
 */
function inOrder(ours: readonly EnvVar[], theirs: readonly EnvVar[]): EnvVar[] {
  const own = new Set(ours.map(({ name }) => name));
  const [secret, told] = [true, false].map((isSecret) =>
    ours.filter((one) => (one.valueFrom !== undefined) === isSecret),
  );
  return [...secret!, ...theirs.filter(({ name }) => !own.has(name)), ...told!];
}

/** Selects nodes that have the requested accelerator. */
function placed(pod: PodSpec, spec: InstanceSpec, engine: KubernetesEngine, config: KubernetesTargetConfig): PodSpec {
  const accelerator = acceleratorOf(spec, engine, config);
  if (!accelerator) return pod;
  const { node_selector: selector, tolerations, runtime_class: runtimeClass } = accelerator;
  const borne = Array.isArray(pod['tolerations']) ? (pod['tolerations'] as unknown[]) : [];
  return {
    ...pod,
    ...(selector && { nodeSelector: { ...mapping(pod['nodeSelector']), ...selector } }),
    ...(tolerations && { tolerations: [...borne, ...tolerations] }),
    ...(runtimeClass !== undefined && { runtimeClassName: runtimeClass }),
  };
}

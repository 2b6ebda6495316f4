import type { TestBed } from '../src/test-bed.js';
import { DEPLOYMENTS, type ContainerSpec, type Pod } from '../src/objects.js';

const health = { httpGet: { path: '/health', port: 8000 }, periodSeconds: 1 };

/** An engine that is ready as soon as it answers. */
export const engine = (over: Partial<ContainerSpec> = {}): ContainerSpec => ({
  name: 'engine',
  image: 'test/sim',
  command: ['inference-sim', '--host', '0.0.0.0', '--port', '8000'],
  startupProbe: { ...health, failureThreshold: 600 },
  readinessProbe: health,
  ...over,
});

/** Ends a container that does not answer. */
export const liveness = { ...health, failureThreshold: 3 };

/** Creates a Deployment `unit` with one pod. */
export async function deploy(
  bed: TestBed,
  namespace: string,
  container: ContainerSpec,
  spec: object = {},
): Promise<void> {
  await bed.client.create(DEPLOYMENTS, {
    metadata: { name: 'unit', namespace },
    spec: {
      replicas: 1,
      strategy: { type: 'Recreate' },
      selector: { matchLabels: { app: 'unit' } },
      template: {
        metadata: { labels: { app: 'unit' } },
        spec: { terminationGracePeriodSeconds: 15, containers: [container], ...spec },
      },
    },
  });
}

export const scale = (bed: TestBed, namespace: string, replicas: number) =>
  bed.client.merge(DEPLOYMENTS, { namespace, name: 'unit' }, { spec: { replicas } });

export const nameOf = (pod: Pod): string => pod.metadata.name;
const first = (pod: Pod) => pod.status?.containerStatuses?.[0] ?? {};
export const restartsOf = (pod: Pod): number => first(pod).restartCount ?? 0;
export const stateOf = (pod: Pod) => first(pod).state ?? {};
export const lastOf = (pod: Pod) => first(pod).lastState?.terminated;
export const waits = (reason: string) => (pod: Pod) => stateOf(pod).waiting?.reason === reason;
export const text = async (pod: Pod, path: string): Promise<string> =>
  (await fetch(`http://${pod.status?.podIP}:8000${path}`)).text();

import { afterAll, beforeAll, expect, jest } from '@jest/globals';
import { engine, nameOf } from '../test/units.js';
import { ControlPlane } from './control-plane.js';
import { kubeItWith } from './kube-tests.js';
import { LwsController } from './lws-controller.js';
import { LEADER_WORKER_SETS, type Pod } from './objects.js';
import { isReady, TestBed } from './test-bed.js';
import { findPrograms } from './test-plane.js';
import { eventually } from './waiting.js';

jest.setTimeout(180_000);

const { bin } = findPrograms(process.env, ['lws']);

let plane: ControlPlane;
let controller: LwsController;
let bed: TestBed;
beforeAll(async () => {
  if (bin === undefined) return;
  plane = await ControlPlane.start({ bin });
  controller = await LwsController.start(plane.access);
  bed = await TestBed.open({ access: plane.access, nodes: [{ gpus: 8 }, { gpus: 8 }] });
});
afterAll(async () => {
  await bed?.close();
  await controller?.stop();
  await plane?.stop();
});

const GROUP_SIZE = 3;

kubeItWith('lws')('creates groups of a leader and workers, which are replaced together', async () => {
  const namespace = await bed.namespace();
  const template = (image: string) => ({ spec: { terminationGracePeriodSeconds: 5, containers: [engine({ image })] } });
  await bed.client.create(LEADER_WORKER_SETS, {
    kind: 'LeaderWorkerSet',
    metadata: { name: 'group', namespace },
    spec: {
      replicas: 1,
      leaderWorkerTemplate: {
        size: GROUP_SIZE,
        restartPolicy: 'RecreateGroupOnPodRestart',
        leaderTemplate: template('test/echo'),
        workerTemplate: template('test/talk'),
      },
    },
  });
  const ready = (not: Pod[] = []): Promise<Pod[]> =>
    eventually('the whole group is ready', async () => {
      const pods = (await bed.pods(namespace)).filter((pod) => isReady(pod));
      const isNew = pods.every(({ metadata }) => !not.some((one) => one.metadata.uid === metadata.uid));
      return pods.length === GROUP_SIZE && isNew ? pods : undefined;
    });
  const first = await ready();
  expect(first.map(nameOf).sort()).toEqual(['group-0', 'group-0-1', 'group-0-2']);
  const leader = first.find((pod) => nameOf(pod) === 'group-0') as Pod;
  const { env } = (await (await fetch(`http://${leader.status?.podIP}:8000/`)).json()) as {
    env: Record<string, string>;
  };
  expect(env).toMatchObject({ LWS_GROUP_SIZE: '3', LWS_WORKER_INDEX: '0' });
  expect(env['LWS_LEADER_ADDRESS']).toMatch(/^group-0\.group\./);
  bed.kubelet.crash(namespace, 'group-0-2');
  await ready(first);
});

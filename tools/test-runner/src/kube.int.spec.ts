import { existsSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { BIN_VARIABLE, KubeClient, programs, readAccess, REQUIRE_VARIABLE } from '@slipway/kube-testbed';
import { kubeIt } from '@slipway/kube-testbed/jest';
import { startKubernetes } from './optional-servers.js';

it('reports that there is no control plane, and throws if one is required', async () => {
  const none = await startKubernetes({});
  expect(none.folder).toBeUndefined();
  expect(none.note).toContain(`${BIN_VARIABLE} is not set`);
  await none.stop();
  await expect(startKubernetes({ [REQUIRE_VARIABLE]: '1', [BIN_VARIABLE]: '/nowhere' })).rejects.toThrow(
    'SLIPWAY_REQUIRE_KUBE=1, but SLIPWAY_KUBE_BIN names /nowhere, which does not contain etcd',
  );
});

kubeIt(
  'starts a control plane that other processes find by its folder, and stops it',
  async () => {
    const kube = await startKubernetes({ [BIN_VARIABLE]: programs() });
    const access = readAccess(kube.folder as string);
    const client = new KubeClient(access, access.token);
    expect(await client.raw('GET', '/readyz')).toBe('ok');
    await kube.stop();
    await expect(client.raw('GET', '/readyz')).rejects.toThrow('ECONNREFUSED');
    expect(existsSync(kube.folder as string)).toBe(false);
    await client.close();
  },
  180_000,
);

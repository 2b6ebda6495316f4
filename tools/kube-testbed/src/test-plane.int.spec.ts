import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, it, jest } from '@jest/globals';
import { kubeIt } from './kube-tests.js';
import { BIN_VARIABLE, findPrograms, PLANE_VARIABLE, sharedAccess } from './test-plane.js';

jest.setTimeout(180_000);

it('names the missing programs', () => {
  const bin = mkdtempSync(path.join(os.tmpdir(), 'slipway-test-bin-'));
  for (const name of ['etcd', 'kube-apiserver', 'kube-scheduler']) writeFileSync(path.join(bin, name), '');
  expect(findPrograms({ [BIN_VARIABLE]: bin })).toEqual({
    why: `SLIPWAY_KUBE_BIN names ${bin}, which does not contain kube-controller-manager`,
  });
  rmSync(bin, { recursive: true });
});

kubeIt('uses the control plane of the run, or one for all files of this process', async () => {
  const folder = process.env[PLANE_VARIABLE];
  const ofRun = folder ? await sharedAccess() : undefined;
  delete process.env[PLANE_VARIABLE];
  try {
    const own = await sharedAccess();
    expect(own.server).not.toBe(ofRun?.server);
    // As in another test file of this process.
    jest.resetModules();
    const anew = (await import('./test-plane.js')) as typeof import('./test-plane.js');
    expect(anew.sharedAccess).not.toBe(sharedAccess);
    expect((await anew.sharedAccess()).server).toBe(own.server);
  } finally {
    if (folder) process.env[PLANE_VARIABLE] = folder;
  }
});

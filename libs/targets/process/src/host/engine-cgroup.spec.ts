import { rmdir } from 'node:fs/promises';
import { expect, it } from '@jest/globals';
import { EngineCgroups, killGroup } from './engine-cgroup.js';

const ROUNDS = 500;
const cgroups = EngineCgroups.find();

(cgroups ? it : it.skip)('finds nothing to kill in a group that another worker removes meanwhile', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const path = cgroups!.pathOf('/a-group-that-goes', process.pid);
    await cgroups!.create(path);
    const [wasPopulated] = await Promise.all([killGroup(path), rmdir(path)]);
    expect(wasPopulated).toBe(false);
  }
});

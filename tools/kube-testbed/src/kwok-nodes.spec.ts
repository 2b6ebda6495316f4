import { expect, it } from '@jest/globals';
import type { ClusterAccess } from './access.js';
import { KwokNodes } from './kwok-nodes.js';

it('explains how to build KWOK if it is missing', async () => {
  const access = { bin: '/nowhere' } as ClusterAccess;
  await expect(KwokNodes.start(access, { name: 'kwok', nodes: 1 })).rejects.toThrow(
    'kwok was not found in /nowhere. Run `node tools/kube-testbed/build.mjs kwok` to build it.',
  );
});

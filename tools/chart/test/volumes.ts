import { kubectlAt } from './kubectl.js';
import { kubectl } from './programs.js';

/**
 * Makes volumes that claims find, in place of the provisioner of a cluster. Nodes of the bed do not mount them.
 * @param storageClass empty for claims without a class, in a cluster of the test's own
 */
export async function makeVolumes(kubeconfig: string, count: number, storageClass = ''): Promise<void> {
  const items = Array.from({ length: count }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `${storageClass || 'volume'}-${index}` },
    spec: {
      accessModes: ['ReadWriteOnce', 'ReadWriteMany'],
      capacity: { storage: '8Gi' },
      storageClassName: storageClass,
      persistentVolumeReclaimPolicy: 'Retain',
      hostPath: { path: `/volumes/${index}` },
    },
  }));
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  const { status, stderr } = await kubectlAt(kubectl, kubeconfig)(['apply', '-f', '-'], list);
  if (status !== 0) throw new Error(stderr);
}

/** Where our labels and annotations stand. */
export const OURS = 'slipway.dev';

/** Labels of everything that we create. */
export const LABEL = {
  managedBy: 'app.kubernetes.io/managed-by',
  name: 'app.kubernetes.io/name',
  installation: `${OURS}/installation`,
  target: `${OURS}/target`,
  tenant: `${OURS}/tenant`,
  deployment: `${OURS}/deployment`,
  revision: `${OURS}/revision`,
  instance: `${OURS}/instance`,
  ordinal: `${OURS}/ordinal`,
  generation: `${OURS}/generation`,
} as const;

/** Which pod of a group it is, as the controller of LeaderWorkerSets says it: 0 leads and serves, the others work for it. */
export const WORKER_INDEX = 'leaderworkerset.sigs.k8s.io/worker-index';

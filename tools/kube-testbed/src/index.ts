export { kubeconfigOf, readAccess, type ClusterAccess } from './access.js';
export { isNotFound, KubeClient, KubeError, pathOf, type ListOptions, type WatchEvent } from './client.js';
export { ControlPlane } from './control-plane.js';
export type { ControlPlaneOptions } from './component-arguments.js';
export { addType, INFERENCE_POOL_TYPE } from './custom-types.js';
export { BED_LABEL, FakeKubelet, type FakeKubeletOptions } from './kubelet/fake-kubelet.js';
export type { NodeSpec } from './kubelet/fake-node.js';
export { IMAGES, type Image } from './kubelet/images.js';
export { LwsController } from './lws-controller.js';
export { KWOK_LABEL, KwokNodes } from './kwok-nodes.js';
export { PACE, type Pace } from './kubelet/pace.js';
export * from './objects.js';
export { grant, workerRules, type GrantedAccess, type PolicyRule } from './service-account.js';
export {
  BIN_VARIABLE,
  findPrograms,
  PLANE_VARIABLE,
  programs,
  REQUIRE_VARIABLE,
  sharedAccess,
  type ProgramSearch,
} from './test-plane.js';
export { SwallowingProxy } from './swallowing-proxy.js';
export { isReady, TestBed, type TestBedOptions } from './test-bed.js';
export { startTrial, type Trial } from './trial.js';
export { eventually } from './waiting.js';

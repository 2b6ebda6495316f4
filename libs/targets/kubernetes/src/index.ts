export { ApiError, KubeConfigError, UnreachableError } from './api/errors.js';
export { kubernetesTarget } from './kubernetes-target.js';

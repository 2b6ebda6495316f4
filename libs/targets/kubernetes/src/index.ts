export { ApiError, KubeConfigError, UnreachableError } from './api/errors.js';

import { unknownPath, wrongMethod, type GatewayError } from '../gateway.errors.js';

export const INFERENCE_PATHS = new Set(['/v1/chat/completions', '/v1/completions', '/v1/embeddings']);
export const READ_PATHS = new Set(['/v1/models', '/healthz', '/readyz', '/metrics']);
const MODEL_PREFIX = '/v1/models/';
/** The methods of the whole server. */
export const EVERY_METHOD = 'GET, HEAD, POST, OPTIONS';
const LONGEST_SHOWN = 200;

/** `model` is one of all models, whose name is the rest of the path. */
export type PathKind = 'inference' | 'read' | 'model';

/** Returns undefined for a path that is not served. */
export function kindOf(path: string): PathKind | undefined {
  if (INFERENCE_PATHS.has(path)) return 'inference';
  if (READ_PATHS.has(path)) return 'read';
  return path.startsWith(MODEL_PREFIX) && path.length > MODEL_PREFIX.length ? 'model' : undefined;
}

/** The methods that a path is there for; `OPTIONS` reports them. */
export function methodsOf(kind: PathKind): string {
  return kind === 'inference' ? 'POST' : 'GET, HEAD';
}

/** Whether a request of this method is served. */
export function serves(kind: PathKind, method: string): boolean {
  return kind === 'inference' ? method === 'POST' : method === 'GET' || method === 'HEAD';
}

export function allowOf(kind: PathKind): string {
  return `${methodsOf(kind)}, OPTIONS`;
}

/** Returns the error for a request that no handler serves. */
export function refusalOf(method: string, path: string): GatewayError {
  const kind = kindOf(path);
  const shown = path.slice(0, LONGEST_SHOWN);
  return kind ? wrongMethod(method, shown, allowOf(kind)) : unknownPath(method, shown);
}

/** A slug contains a slash, which clients send encoded or not. */
export function modelIdOf(path: string): string {
  const raw = path.slice(MODEL_PREFIX.length);
  try {
    return decodeURIComponent(raw);
  } catch {
    return raw;
  }
}

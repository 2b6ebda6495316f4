import { errors } from '@slipway/platform-http';

const MAX_PATH_BYTES = 1024;
/** The longest name that Linux file systems, and so the external sandboxes, accept. */
const MAX_NAME_BYTES = 255;
/** Control characters, and the backslash, which some readers would take for a separator. */
const UNPRINTABLE = /[\0-\x1f\x7f\\]|\p{Cs}/u;

/**
 * Checks a file's path: relative POSIX, in its one shortest spelling, so that each file has exactly one name.
 * @throws path_invalid (400)
 */
export function assertFilePath(path: string): void {
  const objection = objectionTo(path);
  if (!objection) return;
  throw errors.path_invalid({
    message: `path ${objection}.`,
    remediation: 'Send a relative path such as data/input.json, of at most 1024 bytes.',
    details: [{ field: 'path', code: 'path_invalid', message: `path ${objection}` }],
  });
}

function objectionTo(path: string): string | undefined {
  if (path === '') return 'must not be empty';
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `must have at most ${MAX_PATH_BYTES} bytes`;
  if (UNPRINTABLE.test(path)) return 'must not contain control characters or backslashes';
  if (path.startsWith('/')) return 'must be relative';
  const names = path.split('/');
  if (names.includes('')) return 'must not contain empty names';
  if (names.includes('.') || names.includes('..')) return 'must not contain . or ..';
  if (names.some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES))
    return `must not contain names of more than ${MAX_NAME_BYTES} bytes`;
  return undefined;
}

/** Returns the folders of a path: `a/b/c` → `a`, `a/b`. */
export function foldersOf(path: string): string[] {
  const names = path.split('/');
  return names.slice(0, -1).map((_name, index) => names.slice(0, index + 1).join('/'));
}

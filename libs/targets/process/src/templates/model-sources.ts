import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';

/** `org/name` of a hub, as accepted by `vllm serve` and others. */
const HUB_ID = /^[A-Za-z0-9][\w.-]{0,95}\/[A-Za-z0-9][\w.-]{0,95}$/;
const HUB_PATTERN = /^hf:[\w.*?-]{1,96}\/[\w.*?-]{1,96}$/;
const MAX_URI_LENGTH = 1_024;

/** Fills `{home}` in the patterns of `model_sources`. */
export function fillHome(patterns: readonly string[], home: string): string[] {
  return patterns.map((pattern) => pattern.replace(/^\{home\}/, () => home));
}

/**
 * The models that `model.uri` may name: globs of absolute paths (`*` and `?` within a folder, a folder `**` for any
 * number of folders) and of hub ids (`hf:org/*`).
 */
export class ModelSources {
  private readonly paths: string[][];
  private readonly hubs: string[][];

  /** @param patterns without problems, with `{home}` filled in */
  constructor(private readonly patterns: readonly string[]) {
    const [hubs, paths] = [true, false].map((isHub) => patterns.filter((one) => one.startsWith('hf:') === isHub));
    this.hubs = hubs!.map((one) => one.slice('hf:'.length).split('/'));
    this.paths = paths!.map((one) => one.split('/'));
  }

  /** Says why a revision may not name this model, in words that follow the field. Reads no file. */
  problemOf(uri: string): string | undefined {
    const isPath = uri.startsWith('/');
    if (uri.length > MAX_URI_LENGTH) return `may not be longer than ${MAX_URI_LENGTH} characters`;
    if (!isPath && !HUB_ID.test(uri)) return 'must be an absolute path, or a hub id such as Qwen/Qwen3-8B';
    if (
      isPath &&
      uri
        .split('/')
        .slice(1)
        .some((part) => ['', '.', '..'].includes(part))
    )
      return 'must be a path without "..", "." and doubled or trailing "/"';
    return this.matching(uri).length > 0 ? undefined : this.outside('is');
  }

  /**
   * Makes the same check for the target of a path. Symbolic links may lead to another name in the folder that contains
   * a pattern's first wildcard, as in hub caches, and nowhere else. A path that does not exist has no target.
   */
  async linkProblemOf(uri: string): Promise<string | undefined> {
    if (!uri.startsWith('/')) return undefined;
    const real = await realOf(uri);
    if (real === undefined) return undefined;
    const folders = await Promise.all(this.matching(uri).map((pattern) => realOf(folderOf(pattern))));
    const isWithin = folders.some(
      (folder) => folder !== undefined && `${real}/`.startsWith(`${folder}/`.replace('//', '/')),
    );
    return isWithin ? undefined : this.outside(`leads to ${real}, which is`);
  }

  private matching(uri: string): string[][] {
    const segments = uri.split('/');
    const patterns = uri.startsWith('/') ? this.paths : this.hubs;
    return patterns.filter((pattern) => matches(pattern, segments, (one) => one === '**', isSegment));
  }

  private outside(is: string): string {
    return `${is} outside the model sources that the operator allows: ${this.patterns.join(', ') || 'nothing'}`;
  }
}

/** Says what is wrong with an entry of `model_sources`, in words that follow its key. */
export function sourceProblem(pattern: string): string | undefined {
  if (pattern.startsWith('hf:'))
    return HUB_PATTERN.test(pattern) ? undefined : 'must be hf: with an organisation and a name, as in hf:Qwen/*';
  const path = pattern.replace(/^\{home\}(?=\/|$)/, '/home');
  const parts = path.split('/').slice(1);
  if (!path.startsWith('/') || path === '/')
    return 'must be an absolute path such as /srv/models/**, or hf: and a hub id such as hf:Qwen/*';
  if (parts.some((part) => ['', '.', '..'].includes(part))) return 'must have no "..", "." and doubled or trailing "/"';
  if (parts.some((part) => part.includes('**') && part !== '**')) return 'must have ** only as a whole folder name';
  return undefined;
}

/** Returns the folder above the first wildcard; for a pattern without one, the folder of the file. */
function folderOf(pattern: readonly string[]): string {
  const first = pattern.findIndex((part) => /[*?]/.test(part));
  return first < 0 ? dirname(pattern.join('/')) : pattern.slice(0, first).join('/') || '/';
}

async function realOf(path: string): Promise<string | undefined> {
  return realpath(path).catch(() => undefined);
}

const isSegment = (pattern: string, text: string): boolean =>
  matches(
    [...pattern],
    [...text],
    (one) => one === '*',
    (one, other) => one === '?' || one === other,
  );

/**
 * Whether a pattern with stars matches the whole text. It takes at most pattern × text steps, because the text comes
 * from a client.
 */
function matches<T>(
  pattern: readonly T[],
  text: readonly T[],
  isStar: (one: T) => boolean,
  fits: (one: T, other: T) => boolean,
): boolean {
  let [at, star, mark] = [0, -1, 0];
  for (let index = 0; index < text.length;) {
    if (at < pattern.length && isStar(pattern[at]!)) [star, mark] = [at++, index];
    else if (at < pattern.length && fits(pattern[at]!, text[index]!)) [at, index] = [at + 1, index + 1];
    else if (star >= 0) [at, index] = [star + 1, ++mark];
    else return false;
  }
  return pattern.slice(at).every(isStar);
}

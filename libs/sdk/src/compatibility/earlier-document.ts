import { execFileSync, type StdioOptions } from 'node:child_process';
import { textOf, type OpenApi } from './document.js';

export const DOCUMENT = 'libs/sdk/openapi.json';

/** The document to compare with, or the reason why there is none. */
export type EarlierDocument = { name: string; document: OpenApi } | { missing: string };

/**
 * Returns the document from the point where this branch left main. On main itself, or on a branch without a commit yet,
 * it returns that of the last commit, or of the previous one if the last has the same.
 * @param root the folder of the workspace
 */
export function findEarlier(root: string, served: OpenApi): EarlierDocument {
  const head = git(root, 'rev-parse', 'HEAD');
  if (head === undefined) return { missing: 'this folder is not a git repository with a commit' };
  let missing = 'neither origin/main nor main exists';
  for (const branch of ['origin/main', 'main']) {
    const fork = git(root, 'merge-base', branch, 'HEAD');
    if (fork === undefined) continue;
    const commits: string[] = fork === head ? [fork, 'HEAD^'] : [fork];
    for (const commit of commits) {
      const text = git(root, 'show', `${commit}:./${DOCUMENT}`);
      const name = commit === fork ? `${branch} at ${fork.slice(0, 7)}` : 'the previous commit';
      missing = `${name} has no ${DOCUMENT}`;
      if (text === undefined) break;
      if (commit !== head || text !== textOf(served).trim()) return { name, document: JSON.parse(text) as OpenApi };
    }
  }
  return { missing };
}

/** Returns the output of git; undefined if there is no git, or it fails. */
function git(cwd: string, ...args: string[]): string | undefined {
  try {
    const stdio: StdioOptions = ['ignore', 'pipe', 'ignore'];
    return execFileSync('git', args, { cwd, encoding: 'utf8', maxBuffer: 64 << 20, stdio }).trim();
  } catch {
    return undefined;
  }
}

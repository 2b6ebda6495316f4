import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
/** Built once per machine: a build takes minutes, and every clone needs the same one. */
const CACHE = path.join(process.env['XDG_CACHE_HOME'] || path.join(os.homedir(), '.cache'), 'slipway/previous-release');
const COMMIT = readFileSync(path.join(ROOT, '.ci/previous-release'), 'utf8').trim();

const git = (...args: string[]): Buffer =>
  execFileSync('git', args, { cwd: ROOT, maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore'] });

/** Returns whether the history contains that release: a shallow clone's does not. */
export function hasPreviousRelease(): boolean {
  try {
    git('cat-file', '-e', `${COMMIT}^{commit}`);
    return true;
  } catch {
    return false;
  }
}

/** Builds the last release with its own packages. @returns its folder */
export function previousRelease(): string {
  const folder = path.join(CACHE, `${COMMIT}-node${process.versions.node.split('.')[0]}`);
  if (existsSync(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  const building = mkdtempSync(path.join(CACHE, 'building-'));
  try {
    execFileSync('tar', ['-x', '-C', building], { input: git('archive', COMMIT) });
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: building, stdio: 'ignore' });
    const tsc = path.join(building, 'node_modules/typescript/bin/tsc');
    execFileSync(process.execPath, [tsc, '-b', 'tsconfig.json'], { cwd: building, stdio: 'inherit' });
    renameSync(building, folder);
  } catch (error) {
    // Another run may have built the same at the same time.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
  return folder;
}

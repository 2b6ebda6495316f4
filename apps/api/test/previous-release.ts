import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** Beside what Nx keeps, so that neither git, lint nor Nx looks into it; kept between runs. */
const CACHE = path.join(ROOT, '.nx/previous-release');
const COMMIT = readFileSync(path.join(ROOT, '.ci/previous-release'), 'utf8').trim();

const git = (...args: string[]): Buffer =>
  execFileSync('git', args, { cwd: ROOT, maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore'] });

/** Whether the history reaches back that far: a shallow clone's does not. */
export function hasPreviousRelease(): boolean {
  try {
    git('cat-file', '-e', `${COMMIT}^{commit}`);
    return true;
  } catch {
    return false;
  }
}

/** The last release, built. @returns its folder */
export function previousRelease(): string {
  const folder = path.join(CACHE, COMMIT);
  if (existsSync(folder)) return folder;
  const building = `${folder}.building`;
  rmSync(building, { recursive: true, force: true });
  mkdirSync(building, { recursive: true });
  execFileSync('tar', ['-x', '-C', building], { input: git('archive', COMMIT) });
  if (lockOf(building) === lockOf(ROOT)) linkWorkspace(building);
  else execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: building, stdio: 'ignore' });
  const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '-b', 'tsconfig.json'], { cwd: building, stdio: 'inherit' });
  renameSync(building, folder);
  return folder;
}

function lockOf(folder: string): string {
  return readFileSync(path.join(folder, 'package-lock.json'), 'utf8');
}

/** Its own libraries by links of its own; all other packages are found in the folder above it. */
function linkWorkspace(folder: string): void {
  const files = git('ls-tree', '-r', '--name-only', COMMIT, 'apps', 'libs', 'tools').toString().split('\n');
  for (const file of files.filter((one) => one.endsWith('/package.json'))) {
    const { name } = JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as { name: string };
    const link = path.join(folder, 'node_modules', name);
    mkdirSync(path.dirname(link), { recursive: true });
    symlinkSync(path.relative(path.dirname(link), path.join(folder, path.dirname(file))), link);
  }
}

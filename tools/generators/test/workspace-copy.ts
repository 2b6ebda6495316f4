import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const root = path.resolve(import.meta.dirname, '../../..');
const SKIPPED = new Set(['node_modules', '.git', '.nx', '.slipway', 'coverage']);

/** The workspace as it lies here, built libraries included, in a folder where a generator may write. */
export class WorkspaceCopy {
  private constructor(readonly dir: string) {}

  static async make(): Promise<WorkspaceCopy> {
    const dir = await mkdtemp(path.join(os.tmpdir(), 'slipway-generators-'));
    // Timestamps are kept, so that TypeScript sees that what was built is up to date.
    for (const name of await readdir(root)) {
      if (!SKIPPED.has(name))
        await cp(path.join(root, name), path.join(dir, name), {
          recursive: true,
          preserveTimestamps: true,
          filter: (source) => !SKIPPED.has(path.basename(source)),
        });
    }
    await linkPackages(dir);
    return new WorkspaceCopy(dir);
  }

  /** Runs a program of node_modules; answers what it printed, rejects with it where it fails. */
  async run(program: string, ...args: string[]): Promise<string> {
    const env = { ...withoutNx(process.env), NX_DAEMON: 'false', CI: 'true', FORCE_COLOR: '0', NODE_OPTIONS: '' };
    const file = path.join(this.dir, 'node_modules', program);
    try {
      const { stdout, stderr } = await promisify(execFile)(
        process.execPath,
        ['--experimental-vm-modules', '--no-warnings', file, ...args],
        { cwd: this.dir, env, maxBuffer: 16 << 20 },
      );
      return stdout + stderr;
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}\n${stderr}`);
    }
  }

  async remove(): Promise<void> {
    await rm(this.dir, { recursive: true, force: true });
  }
}

/** The Nx that runs this test tells its children where its workspace lies; they must find the copy instead. */
function withoutNx(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('NX_')));
}

/** Every package of the real node_modules by a link, but our own packages from the copy. */
async function linkPackages(dir: string): Promise<void> {
  const real = path.join(root, 'node_modules');
  const copied = path.join(dir, 'node_modules');
  await mkdir(path.join(copied, '@slipway'), { recursive: true });
  for (const name of await readdir(real)) {
    if (name !== '@slipway') await symlink(path.join(real, name), path.join(copied, name));
  }
  for (const name of await readdir(path.join(real, '@slipway'))) {
    await cp(path.join(real, '@slipway', name), path.join(copied, '@slipway', name), { verbatimSymlinks: true });
  }
}

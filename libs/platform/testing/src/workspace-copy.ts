import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The same folder from `src` and from `dist`. */
const root = fileURLToPath(new URL('../../../..', import.meta.url));
const SKIPPED = new Set(['node_modules', '.git', '.nx', '.slipway', 'coverage']);

/** The exit code of a program and its output (stdout and stderr). */
export interface ProgramResult {
  code: number;
  output: string;
}

/** A copy of the current workspace, built libraries included, in a folder that a generator or a mutation may change. */
export class WorkspaceCopy {
  private constructor(readonly dir: string) {}

  static async make(): Promise<WorkspaceCopy> {
    const dir = await mkdtemp(path.join(os.tmpdir(), 'slipway-workspace-'));
    // Timestamps are kept, so that TypeScript sees that the built files are up to date.
    const filter = (source: string): boolean => !SKIPPED.has(path.basename(source));
    const copy = new WorkspaceCopy(dir);
    try {
      for (const name of await readdir(root)) {
        if (SKIPPED.has(name)) continue;
        await cp(path.join(root, name), path.join(dir, name), { recursive: true, preserveTimestamps: true, filter });
      }
      await linkPackages(dir);
      return copy;
    } catch (error) {
      await copy.remove();
      throw error;
    }
  }

  /** Runs a program of node_modules. Returns its output, or rejects with the output if the program fails. */
  async run(program: string, ...args: string[]): Promise<string> {
    const { code, output } = await this.attempt(program, args);
    if (code !== 0) throw new Error(`${program} ${args.join(' ')} failed:\n${output}`);
    return output;
  }

  /** Runs a program that may fail. @param env variables in addition to those of this process */
  async attempt(program: string, args: readonly string[], env: Record<string, string> = {}): Promise<ProgramResult> {
    const file = path.join(this.dir, 'node_modules', program);
    const all = {
      ...withoutNx(process.env),
      NX_DAEMON: 'false',
      CI: 'true',
      FORCE_COLOR: '0',
      NODE_OPTIONS: '',
      ...env,
    };
    const options = { cwd: this.dir, env: all, maxBuffer: 64 << 20 };
    try {
      const flags = ['--experimental-vm-modules', '--no-warnings'];
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [...flags, file, ...args], options);
      return { code: 0, output: stdout + stderr };
    } catch (error) {
      const { stdout = '', stderr = '', code } = error as { stdout?: string; stderr?: string; code?: unknown };
      return { code: typeof code === 'number' ? code : 1, output: stdout + stderr || String(error) };
    }
  }

  async remove(): Promise<void> {
    await rm(this.dir, { recursive: true, force: true });
  }
}

/**
 * The Nx that runs this process passes the path of its workspace to its children. They must find the copy instead, so
 * its variables are removed.
 */
function withoutNx(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('NX_')));
}

/**
 * Links every package of the real node_modules, but copies the links to our own packages, so that they lead into the
 * copy. Caches are built again, because they contain build results.
 */
async function linkPackages(dir: string): Promise<void> {
  const real = path.join(root, 'node_modules');
  const copied = path.join(dir, 'node_modules');
  await mkdir(path.join(copied, '@slipway'), { recursive: true });
  for (const name of await readdir(real)) {
    if (name !== '@slipway' && name !== '.cache') await symlink(path.join(real, name), path.join(copied, name));
  }
  for (const name of await readdir(path.join(real, '@slipway'))) {
    await cp(path.join(real, '@slipway', name), path.join(copied, '@slipway', name), { verbatimSymlinks: true });
  }
}

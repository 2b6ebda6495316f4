import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, chown } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemEnvironment } from '@slipway/platform-config/environment';

/**
 * CHOWN, KILL, SETGID and SETUID of capabilities(7), which are needed to start and stop a process of another user and
 * to give it a folder.
 */
const NEEDED_CAPABILITIES = [0, 5, 6, 7];

/** An operating-system user that engines run as. */
export interface EngineUser {
  uid: number;
  gid: number;
  /** Prefix of a command that runs as the user, with the user's groups and no other right of the worker. */
  prefix: string[];
}

/**
 * @param home the user must be able to pass through it to the engine's folder
 * @throws Error that says why this process cannot run anything as that user
 */
export function findUser(name: string, home: string): EngineUser {
  if (!mayChangeUser()) throw new Error('the worker is not root and cannot start processes of other users');
  const setpriv = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => existsSync(path));
  if (setpriv === undefined) throw new Error('the program setpriv of util-linux is not installed');
  const [uid, gid] = ['-u', '-g'].map((flag) => idOf(flag, name));
  if (uid === 0) throw new Error('engines must not run as root');
  const rights = ['--no-new-privs', '--inh-caps=-all', '--ambient-caps=-all'];
  const prefix = [setpriv, `--reuid=${uid}`, `--regid=${gid}`, '--init-groups', ...rights, '--'];
  attempt(prefix, ['/bin/sh', '-c', ':'], 'setpriv cannot start a process as this user');
  if (existsSync(home))
    attempt(
      prefix,
      ['/bin/sh', '-c', '[ -x "$1" ]', 'sh', home],
      `it cannot access ${home}: run chmod o+x on this folder and on the folders above it`,
    );
  return { uid: uid!, gid: gid!, prefix };
}

/**
 * Gives the engine its work folder and a path to it. Users other than the engine's and the worker's cannot list the
 * folders.
 */
export async function handOver(instanceFolder: string, workFolder: string, { uid, gid }: EngineUser): Promise<void> {
  for (const folder of [dirname(dirname(instanceFolder)), dirname(instanceFolder)]) await chmod(folder, 0o711);
  await chown(instanceFolder, process.getuid!(), gid);
  await chmod(instanceFolder, 0o710);
  await chown(workFolder, uid, gid);
}

function mayChangeUser(): boolean {
  try {
    const capabilities = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))![1]!}`);
    return NEEDED_CAPABILITIES.every((bit) => (capabilities >> BigInt(bit)) & 1n);
  } catch {
    return false;
  }
}

function idOf(flag: string, name: string): number {
  try {
    return Number(
      execFileSync('id', [flag, '--', name], {
        encoding: 'utf8',
        env: systemEnvironment(),
        timeout: 5_000,
        stdio: 'pipe',
      }),
    );
  } catch {
    throw new Error('this user does not exist on the host');
  }
}

function attempt([program, ...prefix]: string[], command: string[], problem: string): void {
  try {
    // The user may read the environment of its processes.
    execFileSync(program!, [...prefix, ...command], { env: systemEnvironment(), timeout: 5_000, stdio: 'ignore' });
  } catch {
    throw new Error(problem);
  }
}

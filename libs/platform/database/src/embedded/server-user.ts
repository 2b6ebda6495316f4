import { execFile, spawnSync } from 'node:child_process';

/**
 * The user that runs the server. Empty: the user of this process. Postgres refuses to run as root, so root starts it as
 * another user.
 */
export interface ServerUser {
  uid?: number;
  gid?: number;
}

const OS_USER = 'postgres';
const AS_ROOT = { encoding: 'utf8', env: { ...serverEnvironment(), PATH: '/usr/sbin:/usr/bin:/sbin:/bin' } } as const;
const isRoot = (): boolean => process.getuid?.() === 0;

/**
 * @param owner uid and gid of an existing cluster, which keeps running as the user it belongs to
 * @throws Error if this process is root and no OS user `postgres` exists or can be made
 */
export function serverUser(owner?: { uid: number; gid: number }): ServerUser {
  if (!isRoot()) return {};
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  return lookUp() ?? createUser();
}

/** True if that user can really do it. It tries instead of computing the answer from modes, ACLs and mount options. */
export function may(user: ServerUser, what: 'enter' | 'read', path: string): boolean {
  const test = what === 'enter' ? 'cd "$1" 2>/dev/null && test -w .' : 'test -r "$1"';
  if (process.platform === 'win32') return true;
  return (
    spawnSync('/bin/sh', ['-c', test, 'sh', path], { ...user, cwd: '/', env: serverEnvironment(), stdio: 'ignore' })
      .status === 0
  );
}

/** Runs a program of the server to its end. @throws Error with its output if it fails */
export function runAs(user: ServerUser, program: string, args: string[], timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    // Not this process's environment: PGDATA, PGPORT or a locale in it would change the behaviour of the programs.
    execFile(
      program,
      args,
      { ...user, cwd: rootFolder(), env: serverEnvironment(), timeout: timeoutMs, killSignal: 'SIGKILL' },
      (error, stdout, stderr) => {
        if (!error) return resolve(stdout);
        reject(new Error(`${program} failed: ${`${stderr}${stdout}`.trim() || error.message}`));
      },
    );
  });
}

export function serverEnvironment(): NodeJS.ProcessEnv {
  return { LC_ALL: 'C', PATH: '/usr/bin:/bin', TZ: 'UTC' };
}

/** A working folder that every user may enter. */
export function rootFolder(): string {
  return process.platform === 'win32' ? '.' : '/';
}

function lookUp(): ServerUser | undefined {
  const [uid, gid] = ['-u', '-g']
    .map((flag) => spawnSync('id', [flag, OS_USER], AS_ROOT))
    .map((run) => (run.status === 0 ? Number(run.stdout) : undefined));
  return uid && gid !== undefined ? { uid, gid } : undefined;
}

function createUser(): ServerUser {
  const group = spawnSync('groupadd', ['-f', '-r', OS_USER], AS_ROOT);
  const user = spawnSync(
    'useradd',
    ['-r', '-g', OS_USER, '-M', '-d', '/nonexistent', '-s', '/usr/sbin/nologin', OS_USER],
    AS_ROOT,
  );
  const made = lookUp();
  if (made) return made;
  const reason =
    (user.error ?? group.error) ? 'useradd is not installed' : `${group.stderr ?? ''}${user.stderr ?? ''}`.trim();
  throw new Error(
    `Postgres cannot run as root, and the OS user \`${OS_USER}\` could not be created (${reason}). Create that user, start as a user other than root, or set DATABASE_URL.`,
  );
}

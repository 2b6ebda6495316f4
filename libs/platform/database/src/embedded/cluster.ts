import { randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { annexOf, createAnnex } from './annex.js';
import type { Binaries } from './binaries.js';
import { may, rootFolder, runAs, serverEnvironment, serverUser, type ServerUser } from './server-user.js';

/** A cluster's folder belongs to the server's user, with mode 0700; `data` in it is complete or absent. */
export interface Cluster {
  folder: string;
  data: string;
  user: ServerUser;
}

/**
 * Finds the cluster of an existing home, or makes an empty folder for it where the server's user can reach it.
 * @throws Error if an existing cluster belongs to a user that this process cannot act as
 */
export function locateCluster(home: string): Cluster {
  const folder = path.join(annexOf(home) ?? home, 'postgres');
  if (existsSync(folder)) return reuse(folder);

  const user = serverUser();
  const made = makeFolder(folder, user);
  if (may(user, 'enter', made)) return clusterIn(made, user);
  rmdirSync(made);
  return clusterIn(makeFolder(path.join(createAnnex(home, user), 'postgres'), user), user);
}

/**
 * Runs initdb in a temporary folder that is renamed when it is complete, so that a killed initdb leaves nothing that
 * resembles a cluster.
 */
export async function initialize(
  cluster: Cluster,
  binaries: Binaries,
  superuser: string,
  password: string,
): Promise<void> {
  const unfinished = path.join(cluster.folder, 'data.unfinished');
  rmSync(unfinished, { recursive: true, force: true });
  const passwordFile = path.join(cluster.folder, `password-${randomUUID()}`);
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600, flag: 'wx' });
  giveTo(passwordFile, cluster.user);
  try {
    await runAs(
      cluster.user,
      binaries.initdb,
      [
        '-D',
        unfinished,
        '-U',
        superuser,
        '--auth=scram-sha-256',
        `--pwfile=${passwordFile}`,
        '--encoding=UTF8',
        '--locale=C',
        '--no-sync',
      ],
      120_000,
    );
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(unfinished, cluster.data);
}

/**
 * Sets the password of a cluster whose passwords were lost, with the single-user server, which needs none. No other
 * server may run on the cluster.
 */
export function resetPassword(
  cluster: Cluster,
  binaries: Binaries,
  superuser: string,
  password: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const single = spawn(binaries.postgres, ['--single', '-D', cluster.data, 'postgres'], {
      ...cluster.user,
      cwd: rootFolder(),
      env: serverEnvironment(),
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    let log = '';
    single.stderr.on('data', (chunk: Buffer) => (log += chunk));
    single.once('error', reject);
    single.once('exit', (code) =>
      code === 0 && !log.includes('ERROR:')
        ? resolve()
        : reject(new Error(`cannot set a new password in ${cluster.data}: ${log}`)),
    );
    single.stdin.end(`alter role "${superuser}" password '${password}'\n`);
  });
}

function reuse(folder: string): Cluster {
  const owner = statSync(folder);
  const mine = process.getuid?.();
  if (mine !== undefined && mine !== 0 && owner.uid !== mine)
    throw new Error(
      `${folder} belongs to another user (uid ${owner.uid}). Start as that user or as root, or set SLIPWAY_HOME to another folder.`,
    );
  if (mine === 0 && owner.uid === 0) giveTo(folder, serverUser());
  const user = serverUser(statSync(folder));
  if (!may(user, 'enter', folder))
    throw new Error(
      `The owner of ${folder} (uid ${user.uid ?? mine}) cannot access it, because a parent folder denies access. Allow access (chmod o+x), or set SLIPWAY_HOME to another folder.`,
    );
  return clusterIn(folder, user);
}

function clusterIn(folder: string, user: ServerUser): Cluster {
  return { folder, data: path.join(folder, 'data'), user };
}

function makeFolder(folder: string, user: ServerUser): string {
  mkdirSync(folder, { mode: 0o700 });
  chmodSync(folder, 0o700);
  giveTo(folder, user);
  return folder;
}

function giveTo(target: string, user: ServerUser): void {
  if (user.uid !== undefined && user.gid !== undefined) chownSync(target, user.uid, user.gid);
}

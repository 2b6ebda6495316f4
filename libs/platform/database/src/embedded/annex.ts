import { createHash } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { may, type ServerUser } from './server-user.js';

/**
 * Only for root: if SLIPWAY_HOME is below a folder that is closed to the server's user (a clone in root's home), the
 * cluster is outside SLIPWAY_HOME, and this file in SLIPWAY_HOME contains its location.
 */
const POINTER = 'postgres.location';
const STATE_FOLDER = '/var/lib';

/** The folder that an earlier start of this home chose, if any. */
export function annexOf(home: string): string | undefined {
  try {
    const folder = readFileSync(path.join(home, POINTER), 'utf8').trim();
    return existsSync(folder) ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** Makes that folder and records it. The server's user can enter it but not list it. */
export function createAnnex(home: string, user: ServerUser): string {
  const folder = sharedFolder(user) ? named(home) : mkdtempSync(path.join(os.tmpdir(), 'slipway-'));
  chmodSync(folder, 0o711);
  writeFileSync(path.join(home, POINTER), `${folder}\n`, { mode: 0o600 });
  return folder;
}

/**
 * A folder for data that several homes share, which only root writes and the server's user may enter; undefined on a
 * read-only system.
 */
export function sharedFolder(user: ServerUser): string | undefined {
  try {
    accessSync(STATE_FOLDER, constants.W_OK);
    return may(user, 'read', STATE_FOLDER) ? STATE_FOLDER : undefined;
  } catch {
    return undefined;
  }
}

function named(home: string): string {
  const folder = path.join(
    STATE_FOLDER,
    `slipway-${createHash('sha256').update(realpathSync(home)).digest('hex').slice(0, 12)}`,
  );
  // A home at this path was deleted, and its passwords with it. Its cluster is kept aside, because it may contain a
  // user's data.
  if (existsSync(folder)) renameSync(folder, `${folder}.abandoned-${Date.now()}`);
  mkdirSync(folder);
  return folder;
}

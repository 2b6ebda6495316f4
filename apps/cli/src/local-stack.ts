import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { networkInterfaces } from 'node:os';
import path from 'node:path';

/** The command that starts the stack of this machine: an installed `slipway` has no clone. */
export const START_COMMAND = import.meta.url.includes('/node_modules/') ? 'slipway up' : 'npm start';

/** A stack of `npm start` or `slipway up`, as its home describes it. */
export interface LocalStack {
  /** The folder that describes it, such as `/home/ada/shop/.slipway`. */
  home: string;
  /** The file with its address; undefined: it does not run, or has the usual address. */
  addressFile?: string;
  url?: string;
  gatewayUrl?: string;
  token: string;
}

/** A home that is not used, with the reason for the person. */
export interface IgnoredHome {
  home: string;
  reason: string;
}

/** A stack writes `slw_<id>_<secret>`. Any other content could be a secret that a link was made to. */
const TOKEN = /^slw_[A-Za-z0-9-]{1,64}_[\x21-\x7e]{1,512}$/;
const MOST_BYTES = 4_096;

/** The file does not exist. */
const ABSENT = Symbol('absent');

/**
 * Reads a home. A folder may come from someone else: with a repository, an archive, or from another user of a shared
 * folder. So the home, its files and the folder between them must be plain, and only the current user may write them;
 * the token must look like one; and the address must be of this machine.
 * @returns undefined if there is no stack
 */
export function readLocalStack(home: string): LocalStack | IgnoredHome | undefined {
  try {
    const token = readPlain(home, ['bootstrap-token'], { isSecret: true });
    if (token === ABSENT || token === '') return undefined;
    if (!TOKEN.test(token)) throw new Error('its bootstrap-token holds no token of Slipway');
    const addressFile = path.join(home, 'run', 'api-url');
    const url = readPlain(home, ['run', 'api-url'], { isSecret: false });
    if (url === ABSENT || url === '') return { home, token };
    const told = readPlain(home, ['run', 'gateway-url'], { isSecret: false });
    const gatewayUrl = told === ABSENT || told === '' ? undefined : told;
    for (const one of [url, gatewayUrl])
      if (one !== undefined && !isOfThisMachine(one)) throw new Error(`its address ${one} is not one of this machine`);
    return { home, addressFile, url, ...(gatewayUrl !== undefined && { gatewayUrl }), token };
  } catch (error) {
    return { home, reason: (error as Error).message };
  }
}

export const isIgnored = (found: LocalStack | IgnoredHome): found is IgnoredHome => 'reason' in found;

/** @throws Error that completes "<home> is ignored: …" */
function readPlain(
  home: string,
  parts: readonly string[],
  { isSecret }: { isSecret: boolean },
): string | typeof ABSENT {
  const folders = [home, ...parts.slice(0, -1).map((_, index) => path.join(home, ...parts.slice(0, index + 1)))];
  for (const folder of folders) {
    const found = statOf(folder);
    if (found === undefined) return ABSENT;
    if (found.isSymbolicLink()) throw new Error(`${folder} is a symbolic link; set SLIPWAY_HOME to the folder itself`);
    if (!found.isDirectory()) return ABSENT;
    assertOwn(folder, found);
  }
  const file = path.join(home, ...parts);
  const found = statOf(file);
  if (found === undefined) return ABSENT;
  if (!found.isFile()) throw new Error(`${file} is not a regular file`);
  // It is checked again once it is open: between the two calls, another process may have replaced it.
  const open = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const opened = fstatSync(open);
    if (!opened.isFile()) throw new Error(`${file} is not a regular file`);
    assertOwn(file, opened);
    if (isSecret && hasModes(opened, 0o077))
      throw new Error(`other users may read ${file}; run chmod 600 on it, if the stack is yours`);
    // An archive may contain a second name for a file that is already here.
    if (isSecret && opened.nlink > 1)
      throw new Error(`${file} has another name; replace it by a copy, if the stack is yours`);
    if (opened.size > MOST_BYTES) throw new Error(`${file} is larger than ${MOST_BYTES} bytes`);
    return readFileSync(open, 'utf8').trim();
  } finally {
    closeSync(open);
  }
}

function statOf(file: string): Stats | undefined {
  try {
    return lstatSync(file);
  } catch {
    return undefined;
  }
}

function assertOwn(file: string, { uid, mode }: Stats): void {
  const own = process.getuid?.();
  if (own === undefined) return;
  if (uid !== own) throw new Error(`${file} belongs to another user`);
  if ((mode & 0o022) !== 0)
    throw new Error(`other users may change ${file}; run chmod go-w on it, if the stack is yours`);
}

/** Windows has no modes. */
const hasModes = ({ mode }: Stats, bits: number): boolean => process.getuid !== undefined && (mode & bits) !== 0;

/** Loopback, or an address of an interface: SLIPWAY_HOST may have set one. */
export function isOfThisMachine(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, username, password, pathname, search, hash } = new URL(url);
  const hasMore = username !== '' || password !== '' || pathname !== '/' || search !== '' || hash !== '';
  if (protocol !== 'http:' || hasMore) return false;
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  if (host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)) return true;
  return Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === host));
}

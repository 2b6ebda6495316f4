import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Kept in `<home>/postgres.json` with mode 0600. `port` is the last one used, so that addresses stay the same across
 * starts.
 */
export interface Credentials {
  superuserPassword: string;
  ownerPassword: string;
  appPassword: string;
  gatewayPassword: string;
  port?: number;
}

const secret = (): string => randomBytes(24).toString('hex');

const fileOf = (home: string): string => path.join(home, 'postgres.json');

/** @returns `isNew` if the file was lost or never existed; an existing cluster must then get the new passwords */
export function readCredentials(home: string): { credentials: Credentials; isNew: boolean } {
  if (existsSync(fileOf(home))) {
    const kept = parse(readFileSync(fileOf(home), 'utf8'));
    if (kept) return { credentials: kept, isNew: false };
  }
  const credentials = {
    superuserPassword: secret(),
    ownerPassword: secret(),
    appPassword: secret(),
    gatewayPassword: secret(),
  };
  return { credentials, isNew: true };
}

export function keepCredentials(home: string, credentials: Credentials): void {
  const next = `${fileOf(home)}.new`;
  writeFileSync(next, `${JSON.stringify(credentials)}\n`, { mode: 0o600 });
  chmodSync(next, 0o600);
  renameSync(next, fileOf(home));
}

function parse(text: string): Credentials | undefined {
  try {
    const { superuserPassword, ownerPassword, appPassword, gatewayPassword, port } = JSON.parse(
      text,
    ) as Partial<Credentials>;
    if (!superuserPassword || !ownerPassword || !appPassword) return undefined;
    // The file of an older version has none.
    const kept = { superuserPassword, ownerPassword, appPassword, gatewayPassword: gatewayPassword ?? secret() };
    return { ...kept, ...(Number.isInteger(port) ? { port } : {}) };
  } catch {
    return undefined;
  }
}

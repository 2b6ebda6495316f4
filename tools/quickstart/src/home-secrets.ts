import { randomBytes, randomInt } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { makeHome } from '@slipway/platform-config';

/** A secret in a file of a home with mode 0600, created at its first use. */
export interface KeptSecret {
  value: string;
  file: string;
  isNew: boolean;
}

/** Admin token of the operator tenant. Hex, because the secret must not contain the separator `_`. */
export function bootstrapToken(home: string): KeptSecret {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';
  const id = (): string => Array.from({ length: 12 }, () => alphabet[randomInt(alphabet.length)]).join('');
  return keep(home, 'bootstrap-token', () => `slw_${id()}_${randomBytes(32).toString('hex')}`);
}

/** Key-encryption key, 32 bytes in base64. If it is lost, all stored credentials are lost. */
export function secretKey(home: string): KeptSecret {
  return keep(home, 'secret-key', () => randomBytes(32).toString('base64'));
}

function keep(home: string, name: string, make: () => string): KeptSecret {
  const file = path.join(home, name);
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  if (kept) return { value: kept, file, isNew: false };
  makeHome(home);
  const value = make();
  writeFileSync(`${file}.new`, `${value}\n`, { mode: 0o600 });
  chmodSync(`${file}.new`, 0o600);
  renameSync(`${file}.new`, file);
  return { value, file, isNew: true };
}

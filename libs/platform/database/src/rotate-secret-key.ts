import { parseArgs } from 'node:util';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type Config, ConfigModule, type KeyRing } from '@slipway/platform-config';
import { Database } from './database.js';
import { DatabaseModule } from './database.module.js';
import { countSealed, reseal, type SealedColumn, type SealedCount } from './sealed-column.js';
import type { Tx } from './tx.js';

/**
 * A use of a key other than sealing that cannot be renewed here, because what was issued with the key, such as an
 * engine's key, stays in use.
 */
export interface KeyUse {
  /** The name of the user, for people: `engines`. */
  readonly noun: string;
  readonly table: string;
  /** The key's id; null if a row uses none. */
  readonly column: string;
}

export async function countUses(tx: Tx, { table, column }: KeyUse): Promise<{ keyId: string; uses: number }[]> {
  return tx.query(
    `select ${column} as "keyId", count(*)::int as uses from ${table} where ${column} is not null group by 1 order by 1`,
  );
}

const USAGE = 'usage: rotate-secret-key [--check]\n';

/**
 * The command: seals everything stored under the current key. It prints on stdout how many texts each key has sealed,
 * and what else uses it. With `--check` it changes nothing.
 * @returns the exit status: 0 = only the current key is needed, 1 = another key is still needed, 2 = the check failed
 */
export async function rotateSecretKey(
  config: Config,
  columns: readonly SealedColumn[],
  keyUses: readonly KeyUse[],
  args: readonly string[],
): Promise<number> {
  const isCheck = isCheckOnly(args);
  if (isCheck === undefined) {
    process.stderr.write(USAGE);
    return 2;
  }
  @Module({ imports: [ConfigModule.forRoot(config), DatabaseModule.forRoot(config)] })
  class RotateSecretKeyModule {}
  const app = await NestFactory.createApplicationContext(RotateSecretKeyModule, {
    logger: ['error'],
    abortOnError: false,
  });
  try {
    const database = app.get(Database, { strict: false });
    if (!isCheck) for (const column of columns) await resealAll(database, column, config.keyRing);
    const counts = await countAll(database, columns);
    const uses = await countAllUses(database, keyUses);
    for (const line of linesOf(counts, uses, config.keyRing)) process.stdout.write(`${line}\n`);
    return [...counts, ...uses].every(({ keyId }) => keyId === config.keyRing.current.id) ? 0 : 1;
  } finally {
    await app.close();
  }
}

function isCheckOnly(args: readonly string[]): boolean | undefined {
  try {
    return parseArgs({ args: [...args], options: { check: { type: 'boolean', default: false } } }).values.check;
  } catch {
    return undefined;
  }
}

async function resealAll(database: Database, column: SealedColumn, keyRing: KeyRing): Promise<void> {
  const written = await reseal(
    (work) => database.tx('system', work),
    column,
    keyRing,
    (location) => process.stderr.write(`no key can decrypt ${location}\n`),
  );
  if (written > 0) process.stdout.write(`resealed ${column.table}.${column.column}: ${written} rows\n`);
}

async function countAll(database: Database, columns: readonly SealedColumn[]): Promise<SealedCount[]> {
  const total = new Map<string | null, number>();
  for (const column of columns)
    for (const { keyId, texts } of await database.tx('system', (tx) => countSealed(tx, column)))
      total.set(keyId, (total.get(keyId) ?? 0) + texts);
  return [...total].map(([keyId, texts]) => ({ keyId, texts }));
}

interface UseCount {
  noun: string;
  keyId: string;
  uses: number;
}

async function countAllUses(database: Database, keyUses: readonly KeyUse[]): Promise<UseCount[]> {
  const counts: UseCount[] = [];
  for (const use of keyUses)
    for (const count of await database.tx('system', (tx) => countUses(tx, use)))
      counts.push({ noun: use.noun, ...count });
  return counts;
}

/**
 * One line for each key: those of the ring, then those that are missing in the ring although they have sealed something
 * or are used otherwise.
 */
function linesOf(counts: readonly SealedCount[], uses: readonly UseCount[], keyRing: KeyRing): string[] {
  const of = (id: string | null): number => counts.find(({ keyId }) => keyId === id)?.texts ?? 0;
  const alsoOf = (id: string): string =>
    uses
      .filter(({ keyId }) => keyId === id)
      .map((one) => ` ${one.noun}=${one.uses}`)
      .join('');
  const ring = keyRing
    .all()
    .map(({ id }) => `key ${id} ${id === keyRing.current.id ? 'current' : 'old'} sealed=${of(id)}${alsoOf(id)}`);
  const used = new Set([...counts, ...uses].map(({ keyId }) => keyId));
  const missing = [...used]
    .filter((keyId): keyId is string => keyId !== null && !keyRing.byId(keyId))
    .map((keyId) => `key ${keyId} missing sealed=${of(keyId)}${alsoOf(keyId)}`);
  return [...ring, ...missing, ...(of(null) > 0 ? [`key unnamed sealed=${of(null)}`] : [])];
}

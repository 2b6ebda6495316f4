import { parseArgs } from 'node:util';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ConfigModule, type Config } from '@slipway/platform-config';
import { Database, DatabaseModule } from '@slipway/platform-database';
import { AuditKeys } from './audit-keys.js';
import { verifyAudit, type ChainReport } from './audit-verifier.js';
import { headsIn, headsInFile, headText, type ExpectedHead } from './expected-heads.js';

const USAGE =
  'usage: audit-verify [--tenant <name or id>] [--expect-head <tenant>:<sequence>:<hash>]… [--anchors <file>]…\n';

/**
 * The command: prints one line per tenant on stdout.
 * @returns the exit status: 0 = every chain is whole, 1 = a chain is broken, 2 = the command could not check
 */
export async function auditVerify(config: Config, args: string[]): Promise<number> {
  const asked = askedBy(args);
  if (!asked) return refuse(USAGE);
  // Read before the chains: a head that is kept in the meantime must not count as missing from them.
  const kept = await headsOfAll(asked.anchors);
  if (typeof kept === 'string') return refuse(kept);
  @Module({ imports: [ConfigModule.forRoot(config), DatabaseModule.forRoot(config)] })
  class AuditVerifyModule {}
  const app = await NestFactory.createApplicationContext(AuditVerifyModule, { logger: ['error'], abortOnError: false });
  try {
    const options = { tenant: asked.tenant, expected: [...asked.heads, ...kept] };
    const reports = await verifyAudit(app.get(Database, { strict: false }), AuditKeys.of(config), options);
    if (reports.length === 0)
      return refuse(asked.tenant === undefined ? 'there is no tenant\n' : `tenant ${asked.tenant} does not exist\n`);
    for (const report of reports) process.stdout.write(`${lineOf(report)}\n`);
    return reports.some((report) => report.broken) ? 1 : 0;
  } finally {
    await app.close();
  }
}

interface VerifyRequest {
  tenant: string | undefined;
  heads: ExpectedHead[];
  /** Paths of anchor files. */
  anchors: string[];
}

function askedBy(args: string[]): VerifyRequest | undefined {
  const many = { type: 'string', multiple: true } as const;
  try {
    const { values } = parseArgs({ args, options: { tenant: { type: 'string' }, 'expect-head': many, anchors: many } });
    const given = values['expect-head'] ?? [];
    const heads = given.flatMap((text) => headsIn(text).filter((head) => headText(head) === text));
    if (heads.length !== given.length) return undefined;
    return { tenant: values.tenant, heads, anchors: values.anchors ?? [] };
  } catch {
    return undefined;
  }
}

/**
 * Reads the heads of all files. Returns a message if a file cannot be read or has no heads: an empty file would prove
 * nothing, but appear to.
 */
async function headsOfAll(paths: readonly string[]): Promise<ExpectedHead[] | string> {
  const all: ExpectedHead[][] = [];
  for (const path of paths) {
    try {
      all.push(await headsInFile(path));
    } catch (failure) {
      return `${path} cannot be read (${(failure as NodeJS.ErrnoException).code ?? String(failure)})\n`;
    }
    if (all.at(-1)?.length === 0) return `${path} contains no heads of the form <tenant>:<sequence>:<hash>\n`;
  }
  return all.flat();
}

function refuse(text: string): number {
  process.stderr.write(text);
  return 2;
}

/**
 * Prints the head as `--expect-head` takes it, so that it can be kept elsewhere: the key does not show rows cut off at
 * the end.
 */
export function lineOf({ tenantId, tenantName, verified, unsealed, broken }: ChainReport): string {
  const name = JSON.stringify(tenantName);
  if (broken) return `broken ${name} at row ${broken.sequence}${broken.id ? ` (${broken.id})` : ''}: ${broken.problem}`;
  return `ok ${name} rows=${verified.sequence} head=${headText({ tenant: tenantId, ...verified })} unsealed=${unsealed}`;
}

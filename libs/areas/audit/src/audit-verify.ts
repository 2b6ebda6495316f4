import { parseArgs } from 'node:util';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ConfigModule, type Config } from '@slipway/platform-config';
import { Database, DatabaseModule } from '@slipway/platform-database';
import { verifyAudit, type ChainReport } from './audit-verifier.js';

const USAGE = 'usage: audit-verify [--tenant <name or id>]\n';

/**
 * The command: one line a tenant on stdout.
 * @returns the exit status: 0 = every chain is whole, 1 = one is broken, 2 = it could not be asked for
 */
export async function auditVerify(config: Config, args: string[]): Promise<number> {
  const tenant = tenantOf(args);
  if (tenant === null) return refuse(USAGE);
  @Module({ imports: [ConfigModule.forRoot(config), DatabaseModule.forRoot(config)] })
  class AuditVerifyModule {}
  const app = await NestFactory.createApplicationContext(AuditVerifyModule, { logger: ['error'], abortOnError: false });
  try {
    const reports = await verifyAudit(app.get(Database, { strict: false }), tenant);
    if (reports.length === 0) return refuse(`there is no tenant ${tenant}\n`);
    for (const report of reports) process.stdout.write(`${lineOf(report)}\n`);
    return reports.some((report) => report.broken) ? 1 : 0;
  } finally {
    await app.close();
  }
}

function tenantOf(args: string[]): string | undefined | null {
  try {
    return parseArgs({ args, options: { tenant: { type: 'string' } } }).values.tenant;
  } catch {
    return null;
  }
}

function refuse(text: string): number {
  process.stderr.write(text);
  return 2;
}

/** The head is printed so that it can be kept elsewhere: whoever may rewrite the whole database can forge a whole chain. */
export function lineOf({ tenantName, verified, unsealed, broken }: ChainReport): string {
  const name = JSON.stringify(tenantName);
  if (broken) return `broken ${name} at row ${broken.sequence}${broken.id ? ` (${broken.id})` : ''}: ${broken.problem}`;
  return `ok ${name} rows=${verified.sequence} head=${verified.hash} unsealed=${unsealed}`;
}

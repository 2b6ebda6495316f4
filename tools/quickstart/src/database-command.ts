import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  childEnvironment,
  ConfigError,
  environmentOf,
  EXIT_CONFIG,
  secretNames,
  StartupError,
} from '@slipway/platform-config';
import { secretKey } from './home-secrets.js';
import { surviveClosedPipes } from './launcher.js';
import { otherLauncher } from './run-record.js';
import { stackConfig } from './stack-config.js';
import { embeddedDatabase } from './stack-database.js';

export interface DatabaseCommand {
  /** Name of a file in apps/api/dist. */
  entry: string;
  args: string[];
  /**
   * Called before an embedded Postgres is started.
   * @throws Error with a message for the person who typed the command
   */
  prepare?(home: string): Promise<void>;
  /** Whether the command may run while the stack of this home is running. */
  besideStack: boolean;
}

/**
 * Runs a command of the api on DATABASE_URL or on the embedded Postgres, which belongs to the running stack or is
 * started for the command. Ends the process.
 */
export async function runDatabaseCommand(command: DatabaseCommand): Promise<never> {
  surviveClosedPipes();
  try {
    process.exit(await run(command, childEnvironment()));
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(error instanceof ConfigError || error instanceof StartupError ? EXIT_CONFIG : 1);
  }
}

async function run(command: DatabaseCommand, env: NodeJS.ProcessEnv): Promise<number> {
  const config = stackConfig(env, process.cwd());
  const home = path.resolve(config.home);
  const launcher = otherLauncher(home);
  if (launcher && !command.besideStack)
    throw new Error(
      `Slipway is running in ${home} (process ${launcher}). Stop it first, or set SLIPWAY_HOME to a new folder.`,
    );
  const own = (changes: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
    environmentOf('tools', { ...env, ...changes, SLIPWAY_HOME: home }, secretNames(config.operator));
  const key = (): string => env['SLIPWAY_SECRET_KEY']?.trim() || secretKey(home).value;
  if (!config.database.embedded) {
    await command.prepare?.(home);
    return await spawned(command, own({ SLIPWAY_SECRET_KEY: key() }));
  }
  if (launcher) return await spawned(command, own({}));
  await command.prepare?.(home);
  const database = await embeddedDatabase(home, key(), (line) => process.stderr.write(`${line}\n`));
  try {
    return await spawned(command, own(database.env));
  } finally {
    await database.stop();
  }
}

function spawned({ entry, args }: DatabaseCommand, env: NodeJS.ProcessEnv): Promise<number> {
  const file = fileURLToPath(new URL(`../../../apps/api/dist/${entry}`, import.meta.url));
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--enable-source-maps', file, ...args], { env, stdio: 'inherit' });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

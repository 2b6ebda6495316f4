import { loadConfig, type Config } from '@slipway/platform-config';

type Options = NonNullable<Parameters<typeof loadConfig>[2]>;

/** The stack file comes into being only when the database is started, which no configuration that is wrong shall reach. */
const BLANK = {
  databaseUrl: 'postgres://127.0.0.1/',
  migrateUrl: 'postgres://127.0.0.1/',
  secretKey: Buffer.alloc(32).toString('base64'),
};

/** The configuration of a stack that need not run. @throws ConfigError with every problem, before anything is started */
export function stackConfig(env: NodeJS.ProcessEnv, cwd: string, options: Omit<Options, 'stack'> = {}): Config {
  return loadConfig(env, cwd, { ...options, stack: BLANK });
}

import { loadConfig, type Config } from '@slipway/platform-config';

type Options = NonNullable<Parameters<typeof loadConfig>[2]>;

/** The stack file is created only when the database starts. An invalid configuration must be reported before that. */
const BLANK = {
  databaseUrl: 'postgres://127.0.0.1/',
  migrateUrl: 'postgres://127.0.0.1/',
  secretKey: Buffer.alloc(32).toString('base64'),
};

/**
 * Reads the configuration of a stack that need not be running.
 * @throws ConfigError with every problem, before anything is started
 */
export function stackConfig(env: NodeJS.ProcessEnv, cwd: string, options: Omit<Options, 'stack'> = {}): Config {
  return loadConfig(env, cwd, { ...options, stack: BLANK });
}

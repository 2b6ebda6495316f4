import { setTimeout as delay } from 'node:timers/promises';
import { removeStackFile, writeStackFile } from '@slipway/platform-config';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '@slipway/platform-database';

/** The database of a stack. `env` is what its processes must be told beyond the stack file. */
export interface StackDatabase {
  env: Record<string, string | undefined>;
  stop(): Promise<void>;
}

/** An external Postgres: the processes get the address that the launcher got, and a key that no stack file holds. */
export function externalDatabase(secretKey: string): StackDatabase {
  return { env: { SLIPWAY_SECRET_KEY: secretKey }, stop: async () => undefined };
}

/**
 * The embedded Postgres, and the stack file that tells where it is. Should the server die under the stack it is started
 * again at the same address; the processes reconnect by themselves.
 */
export async function embeddedDatabase(
  home: string,
  secretKey: string,
  say: (line: string) => void,
): Promise<StackDatabase> {
  let server: EmbeddedPostgres = await startEmbeddedPostgres({ dir: home });
  let isStopping = false;
  const { port } = server;
  const { appUrl, ownerUrl, gatewayUrl } = server;
  writeStackFile(home, { databaseUrl: appUrl, migrateUrl: ownerUrl, gatewayUrl, secretKey });

  const watch = async (): Promise<void> => {
    await server.exited;
    for (let backoffMs = 100; !isStopping; backoffMs = Math.min(backoffMs * 2, 5_000)) {
      say(`postgres exited; restarting in ${backoffMs / 1000} s`);
      await delay(backoffMs);
      if (isStopping) return;
      try {
        server = await startEmbeddedPostgres({ dir: home, port });
        if (isStopping) await server.stop();
        else void watch();
        return;
      } catch (error) {
        say(`postgres: ${(error as Error).message}`);
      }
    }
  };
  void watch();

  return {
    // The file is enough, and says that this Postgres is the embedded one; a half-set environment must not override it.
    env: { DATABASE_URL: undefined, SLIPWAY_GATEWAY_DATABASE_URL: undefined, SLIPWAY_MIGRATE_DATABASE_URL: ownerUrl },
    stop: async () => {
      isStopping = true;
      await server.stop();
      removeStackFile(home);
    },
  };
}

import { setTimeout as delay } from 'node:timers/promises';
import { removeStackFile, writeStackFile } from '@slipway/platform-config';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '@slipway/platform-database';

/** The database of a stack. `env` contains settings for its processes that are not in the stack file. */
export interface StackDatabase {
  env: Record<string, string | undefined>;
  stop(): Promise<void>;
}

/**
 * An external Postgres: the processes get the address that the launcher got, and a key that is not in any stack file.
 */
export function externalDatabase(secretKey: string): StackDatabase {
  return { env: { SLIPWAY_SECRET_KEY: secretKey }, stop: async () => undefined };
}

/**
 * The embedded Postgres, with the stack file that contains its address. If the server dies while the stack runs, it is
 * restarted at the same address, and the processes reconnect by themselves.
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
    // The file is sufficient, and declares that this Postgres is the embedded one. An incomplete environment must not
    // override it.
    env: { DATABASE_URL: undefined, SLIPWAY_GATEWAY_DATABASE_URL: undefined, SLIPWAY_MIGRATE_DATABASE_URL: ownerUrl },
    stop: async () => {
      isStopping = true;
      await server.stop();
      removeStackFile(home);
    },
  };
}

import type { Redis } from 'ioredis';
import { networkFault, oneLine, reach, type ReachOptions, type ServiceFault } from '@slipway/platform-config/startup';

const VARIABLE = 'REDIS_URL';
const ANSWER_MS = 5_000;
const OLDEST = [6, 2] as const;

/**
 * Waits for Redis as a start does (`reach`).
 * @throws StartupError naming REDIS_URL
 */
export async function reachRedis(redisUrl: string, options: Omit<ReachOptions, 'variable'>): Promise<void> {
  await reach(() => redisFault(redisUrl), { ...options, variable: VARIABLE });
}

/** The reason why this address cannot hold the queue; undefined if it can. Takes about ten seconds at most. */
export async function redisFault(redisUrl: string): Promise<ServiceFault | undefined> {
  const ioredis = await import('ioredis');
  let client: Redis;
  try {
    client = new ioredis.Redis(redisUrl, {
      lazyConnect: true,
      connectTimeout: ANSWER_MS,
      commandTimeout: ANSWER_MS,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
    });
  } catch (error) {
    return refused(
      `cannot be read (${oneLine(error)}). Correct ${VARIABLE}: percent-encode special characters in the user and the password.`,
    );
  }
  const { host, port } = client.options;
  const address = `${host}:${port}`;
  // `connect` rejects only with the fact that the connection closed; an event carries the reason.
  let cause: Error | undefined;
  client.on('error', (error) => (cause ??= error));
  try {
    await client.connect();
    return infoFault(await client.info(), address);
  } catch (error) {
    return faultOf(cause ?? (error as Error), address);
  } finally {
    client.disconnect();
  }
}

function refused(text: string): ServiceFault {
  return { kind: 'refused', text };
}

function infoFault(info: string, address: string): ServiceFault | undefined {
  const field = (name: string): string | undefined => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
  const version = field('redis_version') ?? '';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (version && (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])))
    return refused(`${address} is Redis ${version}; the queue needs ${OLDEST.join('.')} or newer.`);
  const policy = field('maxmemory_policy');
  if (policy && policy !== 'noeviction')
    return refused(
      `Redis at ${address} may evict jobs (maxmemory-policy ${policy}). Set maxmemory-policy to noeviction: run redis-cli config set maxmemory-policy noeviction, and change its configuration file.`,
    );
  return undefined;
}

function faultOf(error: Error, address: string): ServiceFault {
  const text = oneLine(error);
  if (/WRONGPASS|NOAUTH|invalid password|without any password configured/i.test(text))
    return refused(
      `Redis at ${address} rejects the user or password (${text}). Correct ${VARIABLE}, e.g. redis://:password@host:6379.`,
    );
  if (/^(NOPERM|ERR )/.test(text))
    return refused(`Redis at ${address} returned an error: ${text}. Correct ${VARIABLE}.`);
  if (/LOADING|BUSY|MASTERDOWN/.test(text))
    return { kind: 'away', text: `Redis at ${address} is not ready (${text}).` };
  if (error.name === 'ParserError' || /Protocol error/.test(text))
    return refused(`the server at ${address} is not Redis. Correct ${VARIABLE}.`);
  if (/certificate|SSL|wrong version number|self[- ]signed/i.test(text))
    return refused(
      `the TLS connection to Redis at ${address} failed (${text}). Correct ${VARIABLE}: rediss:// uses TLS, redis:// does not.`,
    );
  return (
    networkFault(error, address, VARIABLE) ?? {
      kind: 'away',
      text: `the server at ${address} accepts the connection but does not respond like Redis (${text}). Start Redis there, or correct ${VARIABLE}.`,
    }
  );
}

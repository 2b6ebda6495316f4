import net from 'node:net';
import tls from 'node:tls';
import { reasonOf } from '../failure-lines.js';
import { START_COMMAND } from '../local-stack.js';
import { fault, ok, skipped, warning, type Check } from './check.js';

const MOST_REPLY = 64 * 1024;
/** Asks a Postgres whether it speaks TLS. Postgres answers with one letter, before any login. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/** Never print the URL itself: it contains the password. */
const addressOf = ({ hostname, port }: URL): string => `${hostname}:${port}`;

function urlOf(variable: string, value: string, usualPort: string): URL | string {
  if (!URL.canParse(value)) return `${variable} is not a valid URL`;
  const url = new URL(value);
  url.port ||= usualPort;
  return url;
}

const postgres: Check = {
  name: 'postgres',
  look: async ({ env, isLocal }, signal) => {
    const value = env['DATABASE_URL'];
    if (!value)
      return skipped(
        isLocal ? `DATABASE_URL is not set: ${START_COMMAND} runs its own Postgres` : 'DATABASE_URL is not set',
      );
    const url = urlOf('DATABASE_URL', value, '5432');
    if (typeof url === 'string') return fault(url, 'export DATABASE_URL=postgres://user:password@host:5432/slipway');
    const remedy = `pg_isready -h ${url.hostname} -p ${url.port}`;
    try {
      const reply = await replyOf(url, signal, SSL_REQUEST, (text) => text.length > 0);
      if (/^[SN]/.test(reply)) return ok(`Postgres responds at ${addressOf(url)}`);
      return fault(`the server at ${addressOf(url)} is not Postgres`, remedy);
    } catch (error) {
      return fault(`Postgres does not respond at ${addressOf(url)}: ${reasonOf(error)}`, remedy);
    }
  },
};

const queue: Check = {
  name: 'queue',
  look: async ({ env }, signal) => {
    const value = env['REDIS_URL'];
    const backend = env['QUEUE_BACKEND'] || (value ? 'redis' : 'postgres');
    if (backend !== 'postgres' && backend !== 'redis')
      return fault(`QUEUE_BACKEND is ${backend}, but must be postgres or redis`, 'unset QUEUE_BACKEND');
    if (backend === 'postgres') return ok('in Postgres');
    if (!value) return fault('QUEUE_BACKEND is redis, but REDIS_URL is not set', 'export REDIS_URL=redis://host:6379');
    const url = urlOf('REDIS_URL', value, '6379');
    if (typeof url === 'string') return fault(url, 'export REDIS_URL=redis://:password@host:6379');
    const remedy = `redis-cli -h ${url.hostname} -p ${url.port} ping`;
    try {
      // Both parts have arrived once the last command has its answer.
      const reply = await replyOf(url, signal, commands(url), (text) => /\+PONG|^-/m.test(text));
      const refused = /^-(.*)$/m.exec(reply)?.[1]?.trim();
      if (refused) return fault(`Redis at ${addressOf(url)} returned an error: ${refused}`, remedy);
      return redisFound(reply, addressOf(url), remedy);
    } catch (error) {
      return fault(`Redis does not respond at ${addressOf(url)}: ${reasonOf(error)}`, remedy);
    }
  },
};

function commands({ username, password }: URL): Buffer {
  const [user, secret] = [decodeURIComponent(username), decodeURIComponent(password)];
  const all = [
    ...(secret ? [['AUTH', ...(user ? [user] : []), secret]] : []),
    ['INFO', 'server'],
    ['INFO', 'memory'],
    ['PING'],
  ];
  const words = (command: readonly string[]) =>
    `*${command.length}\r\n${command.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
  return Buffer.from(all.map(words).join(''));
}

export function redisFound(reply: string, address: string, remedy: string) {
  const version = /^redis_version:(\S+)/m.exec(reply)?.[1];
  const policy = /^maxmemory_policy:(\S+)/m.exec(reply)?.[1];
  if (version === undefined) return fault(`the server at ${address} is not Redis`, remedy);
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < 6 || (major === 6 && minor < 2))
    return fault(`Redis ${version} at ${address} is too old: 6.2 or later is required`, remedy);
  if (policy !== undefined && policy !== 'noeviction')
    return warning(
      `Redis at ${address} may drop jobs: its maxmemory-policy is ${policy} instead of noeviction`,
      remedy.replace(/ping$/, 'config set maxmemory-policy noeviction'),
    );
  return ok(`Redis ${version} responds at ${address}`);
}

/** Reads the answer on a new connection until it is complete. */
function replyOf(url: URL, signal: AbortSignal, sent: Buffer, isEnough: (text: string) => boolean): Promise<string> {
  const to = { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port) };
  return new Promise((resolve, reject) => {
    const socket = url.protocol === 'rediss:' ? tls.connect({ ...to, servername: to.host }) : net.connect(to);
    const stop = () => socket.destroy(new Error('no response in time'));
    signal.addEventListener('abort', stop, { once: true });
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (!isEnough(text) && text.length < MOST_REPLY) return;
      resolve(text);
      socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => {
      signal.removeEventListener('abort', stop);
      reject(new Error('the server closed the connection'));
    });
    socket.write(sent);
  });
}

export const STORE_CHECKS: readonly Check[] = [postgres, queue];

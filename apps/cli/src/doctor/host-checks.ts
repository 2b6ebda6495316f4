import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { START_COMMAND } from '../local-stack.js';
import { isLoopback } from '../servers/addresses.js';
import { fault, ok, skipped, warning, type Check, type CheckResult, type Surroundings } from './check.js';
import { withoutToken } from '../terminal.js';
import { isSlipway } from './server-checks.js';

/** The versions in the product's package.json; the command itself accepts any version from 20 on. */
const NODES: readonly (readonly [number, number])[] = [
  [20, 19],
  [22, 13],
  [24, 11],
];
const LITTLE_BYTES = 5 * 2 ** 30;
const TOO_LITTLE_BYTES = 2 ** 29;
const MOST_OUTPUT = 64 * 1024;

export const nodeVersion = (version: string): CheckResult => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isEnough = major > 24 || NODES.some(([line, least]) => major === line && minor >= least);
  if (isEnough) return ok(`Node ${version}`);
  const least = NODES.map((one) => one.join('.')).join(', ');
  return fault(
    `Node ${version} is not supported: Slipway needs ${least} or a later release of the same line`,
    'nvm install 24',
  );
};

/**
 * Checks a port of the stack that runs here: the real one if it runs. If it does not, checks whether it
 * could use the port of the settings.
 */
const portOf = (
  name: string,
  variable: string,
  usual: number,
  addressOf: (around: Surroundings) => string | undefined,
): Check => ({
  name,
  look: async (around, signal) => {
    const { env, isLocal, isRunning } = around;
    if (!isLocal) return skipped('the server of this context is on another machine');
    const [host, port] = [env['SLIPWAY_HOST'] || '127.0.0.1', Number(env[variable] || usual)];
    if (!isRunning && (!Number.isInteger(port) || port < 0 || port > 65_535))
      return fault(`${variable} is not a valid port: ${env[variable]}`, `unset ${variable}`);
    const address = addressOf(around);
    if (address !== undefined && (await isSlipway(address, signal)))
      return ok(`Slipway listens on ${new URL(address).host}`);
    if (isRunning && address !== undefined)
      return fault(`the stack here uses ${new URL(address).host}, and no Slipway responds there`, START_COMMAND);
    if (await isSlipway(`http://${host}:${port}`, signal)) return ok(`Slipway listens on ${host}:${port}`);
    const problem = await listens(host, port);
    if (problem === undefined) return ok(`${host}:${port} is free`);
    if (problem === 'EADDRINUSE')
      return fault(`${host}:${port} is in use by another program`, `${variable}=${port + 10} ${START_COMMAND}`);
    return fault(`cannot listen on ${host}:${port}: ${problem}`, `SLIPWAY_HOST=127.0.0.1 ${START_COMMAND}`);
  },
});

function listens(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

export const homeOf = ({ env, cwd }: Pick<Surroundings, 'env' | 'cwd'>): string =>
  path.resolve(cwd, env['SLIPWAY_HOME'] || '.slipway');

const disk: Check = {
  name: 'disk',
  look: async (around) => {
    let folder = homeOf(around);
    while (!existsSync(folder) && folder !== path.dirname(folder)) folder = path.dirname(folder);
    const { bavail, bsize } = await statfs(folder);
    const free = bavail * bsize;
    const said = `${(free / 2 ** 30).toFixed(1)} GiB are free in ${folder}`;
    if (free >= LITTLE_BYTES) return ok(said);
    const remedy = `df -h ${folder}`;
    return free < TOO_LITTLE_BYTES ? fault(said, remedy) : warning(said, remedy);
  },
};

const gpus: Check = {
  name: 'gpus',
  look: async ({ env }, signal) => {
    const query = ['--query-gpu=name,memory.total,driver_version', '--format=csv,noheader'];
    try {
      const options = { signal, env: withoutToken(env), maxBuffer: MOST_OUTPUT };
      const { stdout } = await promisify(execFile)('nvidia-smi', query, options);
      const cards = stdout.trim().split('\n').filter(Boolean);
      return cards.length > 0 ? ok(cards.join('; ')) : warning('nvidia-smi found no GPU', 'nvidia-smi -L');
    } catch (error) {
      const { code, stderr, stdout } = error as { code?: string | number; stderr?: string; stdout?: string };
      if (code !== 'ENOENT')
        return fault(`nvidia-smi fails: ${(stderr || stdout || String(code)).trim().split('\n')[0]}`, 'nvidia-smi');
      if (existsSync('/proc/driver/nvidia/version'))
        return fault('the NVIDIA driver is loaded, but nvidia-smi is not on the PATH', 'export PATH="$PATH:/usr/bin"');
      return skipped('no NVIDIA GPU found; the simulator and CPU engines do not need one');
    }
  },
};

export const HOST_CHECKS: readonly Check[] = [
  { name: 'node', look: () => Promise.resolve(nodeVersion(process.versions.node)) },
  portOf('api port', 'SLIPWAY_API_PORT', 7070, ({ apiUrl }) => apiUrl),
  portOf('gateway port', 'SLIPWAY_GATEWAY_PORT', 7080, ({ gatewayUrl }) =>
    gatewayUrl !== undefined && isLoopback(gatewayUrl) ? gatewayUrl : undefined,
  ),
  disk,
  gpus,
];

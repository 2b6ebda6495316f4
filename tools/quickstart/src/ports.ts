import net from 'node:net';
import { listenFault } from '@slipway/platform-config';

/**
 * Chooses the port for `name`: the wanted one if it is free. A port from a variable is never replaced; the default port
 * is, and `say` reports that.
 * @throws StartupError that names the variable
 */
export async function choosePort(
  wanted: number,
  host: string,
  variable: { name: string; isSet: boolean },
  say: (line: string) => void,
): Promise<number> {
  try {
    return wanted === 0 ? await anyPort(host) : await bound(wanted, host);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const fault = listenFault(error, { host, port: wanted, variable: variable.name });
    if (variable.isSet || !['EADDRINUSE', 'EACCES'].includes(code ?? '')) throw fault ?? error;
    const problem = code === 'EACCES' ? 'may not be used by this user' : 'is in use by another program';
    const other = await anyPort(host);
    say(`port ${wanted} ${problem}: using ${other} instead (set ${variable.name} to choose another port)`);
    return other;
  }
}

/**
 * Below the ports that systems assign to outgoing connections. So no connection takes the port of a process while it
 * restarts.
 */
const ANY = { from: 10_000, count: 10_000, tries: 50 };

async function anyPort(host: string): Promise<number> {
  for (let i = 0; i < ANY.tries; i += 1) {
    const port = ANY.from + Math.floor(Math.random() * ANY.count);
    const found = await bound(port, host).catch(() => undefined);
    if (found !== undefined) return found;
  }
  return bound(0, host);
}

/**
 * Binds the port and releases it. Another program may take the port in between; then the process fails to start and
 * reports it.
 */
function bound(port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = net.createServer().once('error', reject);
    probe.listen({ port, host, exclusive: true }, () => {
      const { port: taken } = probe.address() as net.AddressInfo;
      probe.close(() => resolve(taken));
    });
  });
}

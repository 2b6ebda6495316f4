import net from 'node:net';

export class PortTakenError extends Error {}

/**
 * The port to use for `name`: the wanted one if it is free. A port that somebody asked for by its variable is never
 * exchanged silently; the default one is, and `say` tells.
 * @throws PortTakenError naming the variable.
 */
export async function choosePort(
  wanted: number,
  host: string,
  variable: { name: string; isSet: boolean },
  say: (line: string) => void,
): Promise<number> {
  if (wanted === 0) return anyPort(host);
  try {
    return await bound(wanted, host);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'EADDRINUSE' && code !== 'EACCES')
      throw new PortTakenError(`SLIPWAY_HOST: cannot listen on ${host} (${code})`);
    const problem = code === 'EACCES' ? 'may not be used by this user' : 'is taken by another program';
    if (variable.isSet)
      throw new PortTakenError(
        `${variable.name}: port ${wanted} ${problem}. Free it, or set ${variable.name} to another one.`,
      );
    const other = await anyPort(host);
    say(`port ${wanted} ${problem}, so ${other} is used instead (set ${variable.name} to choose)`);
    return other;
  }
}

/** Below the ports that systems give to outgoing connections: while a dead process is started again, nobody is given its port. */
const ANY = { from: 10_000, count: 10_000, tries: 50 };

async function anyPort(host: string): Promise<number> {
  for (let i = 0; i < ANY.tries; i += 1) {
    const port = ANY.from + Math.floor(Math.random() * ANY.count);
    const found = await bound(port, host).catch(() => undefined);
    if (found !== undefined) return found;
  }
  return bound(0, host);
}

/** Binds and releases. Another program may take the port in between; its process then fails to start and says so. */
function bound(port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = net.createServer().once('error', reject);
    probe.listen({ port, host, exclusive: true }, () => {
      const { port: taken } = probe.address() as net.AddressInfo;
      probe.close(() => resolve(taken));
    });
  });
}

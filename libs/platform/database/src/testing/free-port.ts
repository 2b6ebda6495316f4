import net from 'node:net';

/**
 * Below the ports that systems use for outgoing connections, so that no other process gets the port while a killed
 * process is restarted. Above 10080, the highest port that `fetch` and browsers refuse to connect to.
 */
const FROM = 10_081;
const COUNT = 9_900;

/** Returns a port of 127.0.0.1 without a listener. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FROM + Math.floor(Math.random() * COUNT);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = net.createServer().once('error', () => resolve(false));
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

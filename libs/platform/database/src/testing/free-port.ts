import net from 'node:net';

/**
 * Below the ports that systems give to outgoing connections, so that no other process gets it while a killed one is started again. Above
 * 10080, the highest port that `fetch` and browsers refuse to connect to.
 */
const FROM = 10_081;
const COUNT = 9_900;

/** A port of 127.0.0.1 that nobody listens on. */
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

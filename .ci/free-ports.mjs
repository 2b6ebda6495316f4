import { createServer } from 'node:net';

// Prints the requested number of free ports. It keeps all of them open until all are known, so that no port is printed
// twice.
const servers = await Promise.all(
  Array.from(
    { length: Number(process.argv[2]) },
    () =>
      new Promise((resolve) => {
        const server = createServer().listen(0, '127.0.0.1', () => resolve(server));
      }),
  ),
);
console.log(servers.map((server) => server.address().port).join(' '));
for (const server of servers) server.close();

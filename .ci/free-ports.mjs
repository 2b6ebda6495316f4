import { createServer } from 'node:net';

// Prints as many free ports as asked for. All are held until all are known, so that none comes twice.
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

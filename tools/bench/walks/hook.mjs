// `walks.mjs` loads this into api, worker and gateway: each SIGUSR2 starts or ends the count of executed files.
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import path from 'node:path';
import process from 'node:process';

const folder = process.env.SLIPWAY_WALKS;
const app = /apps\/(\w+)\/dist\/main\.js$/.exec(process.argv[1] ?? '')?.[1];
if (app && folder) {
  const session = new Session();
  session.connect();
  let isCounting = false;
  process.on('SIGUSR2', async () => {
    if (!isCounting) {
      await session.post('Profiler.enable');
      await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
      writeFileSync(path.join(folder, `${app}.counting`), '');
    } else {
      const { result } = await session.post('Profiler.takePreciseCoverage');
      await session.post('Profiler.stopPreciseCoverage');
      const files = result
        .filter(({ functions }) => functions.some(({ ranges }) => ranges[0].count > 0))
        .map(({ url }) => /(?:apps|libs)\/.*\.js$/.exec(url)?.[0])
        .filter((file) => file?.includes('/dist/') && !file.includes('node_modules'));
      writeFileSync(path.join(folder, `${app}.files`), JSON.stringify(files.sort()));
    }
    isCounting = !isCounting;
  });
  writeFileSync(path.join(folder, `${app}.pid`), String(process.pid));
}

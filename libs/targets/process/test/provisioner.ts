// A worker in miniature: provisions one instance and holds at a named point until somebody kills it.
import { ProcessDriver } from '../src/index.js';
import { engineConfig } from './engine-host.js';

const { point, spec, engine, options } = JSON.parse(process.argv[2]);
const driver = new ProcessDriver(engineConfig(engine), {
  ...options,
  pausePoint: async (name) => {
    if (name !== point) return;
    process.stdout.write(`holding at ${point}\n`);
    await new Promise((done) => setTimeout(done, 60_000));
  },
});
await driver.provision(spec);

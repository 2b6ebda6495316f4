// A minimal worker: provisions one instance and pauses at a named point until the test kills it.
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

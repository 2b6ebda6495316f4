import { BIN_VARIABLE, findPrograms } from './test-plane.js';
import { startTrial } from './trial.js';

// Starts a control plane with two nodes, and prints how to use it, until Ctrl-C: npm run kube:try

const EXIT_MISSING = 3;

const found = findPrograms();
if (found.bin === undefined) {
  process.stderr.write(`${found.why}. Set it with ${BIN_VARIABLE}=$(node tools/kube-testbed/build.mjs)\n`);
  process.exit(EXIT_MISSING);
}
const trial = await startTrial(found.bin);
process.stdout.write(
  `${[
    `# Pods in the namespace ${trial.namespace} run as processes of this machine. Ctrl-C stops everything.`,
    '# Slipway with a target "pods" on this cluster, in another terminal:',
    `SLIPWAY_CONFIG=${trial.configFile} npm start`,
    '# kubectl, as an administrator:',
    `export KUBECONFIG=${trial.kubeconfig} PATH=${found.bin}:$PATH`,
  ].join('\n')}\n`,
);
const alive = setInterval(() => undefined, 60_000);
await new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
});
clearInterval(alive);
await trial.close();

import { BIN_VARIABLE, findPrograms } from './test-plane.js';
import { ControlPlane } from './control-plane.js';
import { TestBed } from './test-bed.js';

// Starts a control plane with two nodes for manual experiments, until Ctrl-C: node tools/kube-testbed/dist/main.js

const EXIT_MISSING = 3;

const found = findPrograms();
if (found.bin === undefined) {
  process.stderr.write(`${found.why}. Set it with ${BIN_VARIABLE}=$(node tools/kube-testbed/build.mjs)\n`);
  process.exit(EXIT_MISSING);
}
const plane = await ControlPlane.start({ bin: found.bin });
const bed = await TestBed.open({ access: plane.access, nodes: [{ gpus: 8 }, {}] });
const namespace = await bed.namespace();
process.stdout.write(
  `${[
    `export KUBECONFIG=${plane.access.kubeconfig} PATH=${found.bin}:$PATH`,
    `# Pods in the namespace ${namespace} run as processes. Ctrl-C stops everything.`,
  ].join('\n')}\n`,
);
const alive = setInterval(() => undefined, 60_000);
await new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
});
clearInterval(alive);
await bed.close();
await plane.stop();

import { parseArgs } from 'node:util';

const USAGE = `npm run kube:scale -- [deployments, 1000] [--replicas 2] [--nodes 20] [--workers 2] [--steady 60] [--churn 300] [--per-second 50] [--bed-units 200] [--minutes 20]
seconds are \`steady\` (nothing changes) and \`churn\` (random pods and units are deleted); 0 leaves a part out; \`minutes\` end it all\n`;

const DEFAULTS = {
  replicas: 2,
  nodes: 20,
  workers: 2,
  steady: 60,
  churn: 300,
  'per-second': 50,
  'bed-units': 200,
  minutes: 20,
};

export type ScaleOptions = typeof DEFAULTS & { deployments: number };

/** Ends the process with what is right where the arguments are not. */
export function readOptions(): ScaleOptions {
  try {
    const names = Object.keys(DEFAULTS).map((name) => [name, { type: 'string' as const }] as const);
    const { values, positionals } = parseArgs({ allowPositionals: true, options: Object.fromEntries(names) });
    const given = Object.entries(values).map(([name, value]) => [name, Number(value)] as const);
    const read = { ...DEFAULTS, ...Object.fromEntries(given), deployments: Number(positionals[0] ?? 1_000) };
    if (positionals.length > 1 || Object.values(read).some((value) => !(value >= 0)))
      throw new Error('a number is none');
    return read;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${USAGE}`);
    process.exit(64);
  }
}

import { judge, overall, type MetricResult, type GateVerdict } from '@slipway/area-rollouts/analysis';
import { ENGINES, type EngineName } from './engine.js';
import { METRICS } from './gate-metrics.js';
import { soak, type SoakSettings } from './soak.js';

const CANDIDATES = [
  ['identical', 1],
  ['30 % slower', 1.3],
  ['twice as slow', 2],
] as const;

const option = (name: string, preset: string): string =>
  process.argv.find((one) => one.startsWith(`--${name}=`))?.split('=')[1] ?? preset;
const seeds = Number(option('seeds', '1000'));
const firstSeed = Number(option('first-seed', '1'));
const looks = Number(option('looks', '1'));
const gateways = Number(option('gateways', '1'));
const candidateShare = Number(option('share', '0.05'));
const candidateSamples = Number(option('samples', '1500'));
const errorRate = Number(option('errors', '0.01'));
const workMs = Number(option('work', '2'));
const sigma = Number(option('sigma', '0.4'));
const burst = Number(option('burst', '1'));
const utilisations = option('utilisations', '0.3,0.6,0.85').split(',').map(Number);
const engines = option('engines', Object.keys(ENGINES).join()).split(',') as EngineName[];
const candidates = CANDIDATES.filter(([name]) => option('candidates', name).split(',').includes(name));

const isJson = process.argv.includes('--json');

if (!isJson)
  process.stdout.write(
    '| engine | utilisation | candidate | promoted | breached | inconclusive | not comparable | e2e p95 regression, median |\n|---|---|---|---|---|---|---|---|\n',
  );
for (const engine of engines)
  for (const utilisation of utilisations)
    for (const [name, slowness] of candidates) {
      const verdicts: Record<GateVerdict, number> = {
        pass: 0,
        breached: 0,
        inconclusive: 0,
        not_comparable: 0,
        unavailable: 0,
      };
      const found: number[] = [];
      for (let seed = firstSeed; seed < firstSeed + seeds; seed += 1) {
        const traffic = { utilisation, candidateShare, candidateSamples, errorRate, workMs, sigma, burst, gateways };
        const { verdict, metrics } = await runGate({ engine, slowness, seed, ...traffic }, looks);
        verdicts[verdict] += 1;
        const percent = metrics[0]?.regression_percent;
        if (percent !== null && percent !== undefined) found.push(percent);
      }
      const medianPercent = found.sort((a, b) => a - b)[Math.floor(found.length / 2)] ?? null;
      if (isJson) {
        process.stdout.write(`${JSON.stringify({ engine, utilisation, candidate: name, verdicts, medianPercent })}\n`);
        continue;
      }
      const share = (verdict: GateVerdict): string => `${((100 * verdicts[verdict]) / seeds).toFixed(1)} %`;
      const cells = [
        engine,
        `${utilisation * 100} %`,
        name,
        share('pass'),
        share('breached'),
        share('inconclusive'),
        share('not_comparable'),
        medianPercent === null ? '-' : `${medianPercent.toFixed(1)} %`,
      ];
      process.stdout.write(`| ${cells.join(' | ')} |\n`);
    }

interface GateOutcome {
  verdict: GateVerdict;
  metrics: MetricResult[];
}

/** Runs one soak and its gate. @param looks checks that are planned for the whole rollout of the soak */
async function runGate(settings: SoakSettings, looks = 1): Promise<GateOutcome> {
  const { candidate, baseline } = await soak(settings);
  const chances = { looks, metrics: METRICS.length };
  const metrics = METRICS.map((metric) => judge(metric, candidate, baseline, chances));
  return { verdict: overall(metrics), metrics };
}

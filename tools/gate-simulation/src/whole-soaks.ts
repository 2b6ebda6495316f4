import type { GateVerdict, Judgement } from '@slipway/area-rollouts/analysis';
import type { Fault } from './traffic.js';
import { wholeSoak } from './whole-soak.js';

/* Runs whole soaks with many seeds, and counts how they end: the false stops, and how long a stop takes. */

const CANDIDATES: Record<string, Fault> = {
  identical: {},
  'fails all': { failing: 1 },
  'fails 10 %': { failing: 0.1 },
  hangs: { isHanging: true },
  'twice as slow': { slowness: 2 },
};

const option = (name: string, preset: string): string =>
  process.argv.find((one) => one.startsWith(`--${name}=`))?.split('=')[1] ?? preset;
const seeds = Number(option('seeds', '1000'));
const firstSeed = Number(option('first-seed', '1'));
const utilisations = option('utilisations', '0.3,0.6,0.85').split(',').map(Number);
const shares = option('shares', '0.05,0.2,0.5').split(',').map(Number);
const candidates = option('candidates', 'identical').split(',');
const isJson = process.argv.includes('--json');

if (!isJson)
  process.stdout.write(
    '| candidate | share | utilisation | stopped (95 % limit) | inconclusive / not comparable / unavailable | seconds until the stop: median, p95 |\n|---|---|---|---|---|---|\n',
  );
for (const candidate of candidates)
  for (const candidateShare of shares)
    for (const utilisation of utilisations) {
      const fault = CANDIDATES[candidate];
      if (!fault) throw new Error(`no candidate ${candidate}`);
      const verdicts: Partial<Record<GateVerdict, number>> = {};
      const causes: Record<string, number> = {};
      const stops: number[] = [];
      for (let seed = firstSeed; seed < firstSeed + seeds; seed += 1) {
        const { judgement, seconds } = await wholeSoak({ seed, utilisation, candidateShare, fault });
        verdicts[judgement.verdict] = (verdicts[judgement.verdict] ?? 0) + 1;
        if (judgement.verdict !== 'pass')
          for (const cause of causesOf(judgement)) causes[cause] = (causes[cause] ?? 0) + 1;
        if (judgement.verdict === 'breached') stops.push(seconds);
      }
      const of = (verdict: GateVerdict): number => verdicts[verdict] ?? 0;
      const upperPercent = Math.round(10_000 * upperLimit(of('breached'), seeds)) / 100;
      // A soak that is not stopped counts as endless.
      const times = [...stops, ...Array.from({ length: seeds - stops.length }, () => Infinity)].sort((a, b) => a - b);
      const [median, p95] = [0.5, 0.95].map((q) => times[Math.ceil(q * seeds) - 1] as number);
      if (isJson) {
        const row = { candidate, candidateShare, utilisation, seeds, verdicts, upperPercent, median, p95, causes };
        process.stdout.write(`${JSON.stringify(row)}\n`);
        continue;
      }
      const shown = (seconds: number | undefined): string => (Number.isFinite(seconds) ? `${seconds} s` : '-');
      const cells = [
        candidate,
        `${100 * candidateShare} %`,
        `${100 * utilisation} %`,
        `${of('breached')} (${upperPercent.toFixed(2)} %)`,
        `${of('inconclusive')} / ${of('not_comparable')} / ${of('unavailable')}`,
        `${shown(median)}, ${shown(p95)}`,
      ];
      process.stdout.write(`| ${cells.join(' | ')} |\n`);
    }

/** The checks with the verdict of the whole judgement. */
function causesOf({ verdict, metrics, guards = [] }: Judgement): string[] {
  return [...metrics, ...guards]
    .filter((one) => one.verdict === verdict)
    .map(({ check, metric }) => `${verdict} by ${check === 'guard' ? 'the guard' : 'the check'} ${metric}`);
}

/** The one-sided upper 95 % limit of a share (Clopper and Pearson). */
function upperLimit(events: number, of: number): number {
  let [low, high] = [events / of, 1];
  for (let round = 0; round < 40; round += 1) {
    const middle = (low + high) / 2;
    if (chanceOfAtMost(events, of, middle) > 0.05) low = middle;
    else high = middle;
  }
  return high;
}

function chanceOfAtMost(events: number, of: number, share: number): number {
  let log = of * Math.log1p(-share);
  let sum = Math.exp(log);
  for (let count = 1; count <= events; count += 1) {
    log += Math.log((of - count + 1) / count) + Math.log(share) - Math.log1p(-share);
    sum += Math.exp(log);
  }
  return sum;
}

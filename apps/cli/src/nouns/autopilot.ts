import { counted, intervalText, measured, short, type MeasuredInterval } from '../progress/text.js';
import { agoOf, tableLines, textOf, type Column, type TextOptions, type View } from '../table.js';
import { harmless, wordsOf, type Colour } from '../terminal.js';
import { CALIBRATION } from './calibration.js';
import { hourlyText, type Money } from './plans/plan-prediction.js';
import type { Noun } from './verb.js';

/** As the api answers. An answer of another version may lack any member, and the others are still shown. */
interface DiagnosisAnswer {
  deployment?: string;
  window?: { from?: string; to?: string } | null;
  decision?: DecisionAnswer | null;
  workload?: WorkloadAnswer;
  slos?: readonly SloAnswer[];
  cost?: { now?: Money | null; devices?: number };
}

interface DecisionAnswer {
  plan_id?: string | null;
  because?: string | null;
  message?: string;
  until?: string | null;
  at?: string;
}

interface WorkloadAnswer {
  declared?: Record<string, number | null>;
  observed?: Record<string, number | null>;
  moved?: readonly string[];
}

type SampledAnswer = MeasuredInterval & { n?: number };
/** The load is in requests in flight on one instance. */
type CurveRow = SampledAnswer & { load: number };

interface SloAnswer {
  metric?: string;
  stat?: string;
  threshold?: number;
  cause?: string;
  because?: string | null;
  message?: string;
  value?: SampledAnswer | null;
  idle?: SampledAnswer | null;
  predicted?: MeasuredInterval | null;
  replicas?: { now?: number; needed?: number | null; at_rate?: number | null };
  curve?: readonly CurveRow[];
}

const CAUSES: Record<string, Colour> = {
  met: 'green',
  errors: 'red',
  intrinsic: 'red',
  load_dependent: 'red',
  starting: 'yellow',
  unknown: 'yellow',
};

const DIAGNOSIS: View = {
  name: 'deployment',
  columns: [{ title: 'DEPLOYMENT', of: 'deployment' }],
  lines: diagnosisLines,
};

export const autopilot: Noun = {
  noun: 'autopilot',
  summary: 'Show what the autopilot sees and decides, and how close its predictions were',
  verbs: [
    {
      verb: 'diagnose',
      operation: 'getAutopilotDiagnosis',
      summary: 'Show the last decision of the autopilot and its reason, why SLOs are missed, the workload and the cost',
      examples: ['slipway autopilot diagnose chat', 'slipway autopilot diagnose chat -o json'],
      view: DIAGNOSIS,
    },
    {
      verb: 'calibration',
      operation: 'getAutopilotCalibration',
      summary: 'Show how close the predictions of executed plans were, and how wide new intervals are',
      examples: ['slipway autopilot calibration', 'slipway autopilot calibration -o json'],
      view: CALIBRATION,
    },
  ],
};

function diagnosisLines(diagnosis: DiagnosisAnswer, look: TextOptions): string[] {
  const parts = [
    decisionLines(diagnosis, look),
    ...rowsIn(diagnosis.slos).map((slo) => sloLines(slo, look)),
    workloadLines(diagnosis.workload, look),
    [`Cost now: ${harmless(costText(diagnosis.cost))}`],
  ];
  return parts.filter((lines) => lines.length > 0).flatMap((lines, i) => (i === 0 ? lines : ['', ...lines]));
}

const rowsIn = <Row>(rows: readonly Row[] | undefined): readonly Row[] => (Array.isArray(rows) ? rows : []);

/** The decision in a sentence, then what belongs to it. */
function decisionLines({ deployment, decision, window }: DiagnosisAnswer, look: TextOptions): string[] {
  const judged = window?.from && window.to ? `${window.from} to ${window.to}` : undefined;
  const what = decision?.message ?? 'The autopilot has not decided anything yet.';
  const facts: [string, string | undefined][] = [
    ['REASON', decision?.because ?? undefined],
    ['PLANS', decision?.because === 'open_plan' ? `slipway plans list --deployment ${textOf(deployment)}` : undefined],
    ['PLAN', decision?.plan_id ? `${decision.plan_id}: slipway plans show ${decision.plan_id}` : undefined],
    ['UNTIL', decision?.until ?? undefined],
    ['DECIDED', decision?.at && [decision.at, agoOf(decision.at)].filter(Boolean).join(', ')],
    ['WINDOW', judged],
  ];
  return [strong(`${textOf(deployment)}: ${harmless(what)}`, look), ...factLines(facts, look)];
}

function sloLines(slo: SloAnswer, look: TextOptions): string[] {
  const { metric = '-', stat, threshold, cause = 'unknown', because, message, value, idle, predicted } = slo;
  const { now, needed, at_rate: rate } = slo.replicas ?? {};
  const curve = rowsIn(slo.curve);
  const name = stat === undefined || stat === 'rate' ? metric : `${metric} ${stat}`;
  const coloured = CAUSES[cause];
  const shownCause = look.paint && coloured ? look.paint(harmless(cause), coloured) : harmless(cause);
  const facts: [string, string | undefined][] = [
    ['VALUE', sampledText(metric, value)],
    ['IDLE', sampledText(metric, idle)],
    ['PREDICTED', predicted ? `${intervalText(metric, predicted)}${atText(needed, rate)}` : undefined],
    ['REPLICAS', now === undefined ? undefined : `${now} now, needed: ${needed ?? 'unknown'}`],
  ];
  return [
    `${strong(harmless(`${name}, limit ${measured(metric, threshold)}`), look)}: ${shownCause}${because ? ` (${harmless(because)})` : ''}`,
    ...(message ? [harmless(message)] : []),
    ...factLines(facts, look),
    ...(curve.length > 0 ? tableLines(curve, curveColumns(metric), { ...look, isList: true }).map(indented) : []),
  ];
}

/** `1110 ms (1050 to 1180, 812 samples)` */
const sampledText = (metric: string, value: SampledAnswer | null | undefined): string | undefined =>
  value ? intervalText(metric, value, value.n === undefined ? [] : [counted(value.n, 'sample')]) : undefined;

/** ` with 3 replicas at 8.1 requests/s` */
function atText(replicas: number | null | undefined, rate: number | null | undefined): string {
  const count = typeof replicas === 'number' ? ` with ${counted(replicas, 'replica')}` : '';
  return typeof rate === 'number' ? `${count} at ${short(rate)} requests/s` : count;
}

const curveColumns = (metric: string): Column[] => [
  { title: 'LOAD', of: ({ load }: CurveRow) => short(load) },
  { title: 'SAMPLES', of: 'n' },
  { title: 'VALUE', of: ({ value }: CurveRow) => measured(metric, value) },
  { title: 'LOW', of: ({ low }: CurveRow) => measured(metric, low) },
  { title: 'HIGH', of: ({ high }: CurveRow) => measured(metric, high) },
];

const WORKLOAD = ['request_rate', 'concurrency', 'input_tokens_p95', 'output_tokens_p95'];

function workloadLines(workload: WorkloadAnswer | undefined, look: TextOptions): string[] {
  if (!workload) return [];
  const { declared = {}, observed = {}, moved } = workload;
  const rows = WORKLOAD.map((member) => ({
    member,
    declared: numberAt(declared, member),
    observed: numberAt(observed, member),
    moved: rowsIn(moved).includes(member) ? 'moved by more than 25 %' : '',
  }));
  const columns: Column[] = [
    { title: 'WORKLOAD', of: 'member' },
    { title: 'DECLARED', of: 'declared' },
    { title: 'OBSERVED', of: 'observed' },
    ...(rows.some((row) => row.moved !== '') ? [{ title: 'MOVED', of: 'moved' }] : []),
  ];
  return tableLines(rows, columns, { ...look, isList: true });
}

const numberAt = (of: Record<string, unknown>, member: string): string | undefined => {
  const value = of[member];
  return typeof value === 'number' ? short(value) : undefined;
};

/** `1.60 EUR/h, 2 devices` */
function costText({ now, devices = 0 }: NonNullable<DiagnosisAnswer['cost']> = {}): string {
  return `${hourlyText(now)}, ${counted(devices, 'device')}`;
}

function factLines(facts: readonly [string, string | undefined][], look: TextOptions): string[] {
  const known = facts.filter(([, text]) => text !== undefined);
  const columns = known.map(([title], i) => ({ title, of: String(i) }));
  if (known.length === 0) return [];
  const row = Object.fromEntries(known.map(([, text], i) => [String(i), wordsOf(text)]));
  return tableLines([row], columns, { ...look, isList: false }).map(indented);
}

const indented = (line: string): string => `  ${line}`;

const strong = (text: string, { paint }: TextOptions): string => paint?.(text, 'bold') ?? text;

import type { Operation, OperationStep } from '@slipway/sdk';
import { remedyOf } from '../remedies.js';
import type { Colour } from '../terminal.js';
import { newsText, type GateCheck, type OperationProgress } from './operation-progress.js';
import { cell, clock, counted, Line, measured, short } from './text.js';
import { endOf, timeLeft } from './time-left.js';
import { needsPerson, waitLines } from './waiting.js';

export interface Frame {
  columns: number;
  rows: number;
  hasColour: boolean;
  /** The current time, because it advances between two reads. */
  now: number;
  /** Whether the view itself says what the operation waits for. A command that ends for that says so with its error. */
  showsWait?: boolean;
}

const MARKS: Record<string, readonly [string, Colour | undefined]> = {
  pending: ['·', 'grey'],
  running: ['●', 'blue'],
  waiting: ['◐', 'yellow'],
  succeeded: ['✓', 'green'],
  skipped: ['-', 'grey'],
  failed: ['✗', 'red'],
  cancelled: ['✗', 'yellow'],
  undone: ['↶', 'yellow'],
};
const VERDICTS: Record<string, Colour> = { pass: 'green', breached: 'red' };
const STATUSES: Record<string, Colour> = { succeeded: 'green', failed: 'red', cancelled: 'yellow', waiting: 'yellow' };
const MOST_NEWS = 3;
const NARROW = 60;
const WIDEST_BAR = 40;

/** Returns the lines to show: each fits the width of the terminal, and all together fit its rows. */
export function linesOf(sight: OperationProgress, frame: Frame): string[] {
  const head = headOf(sight.operation, frame);
  const below = [...trafficOf(sight, frame), ...gatesOf(sight, frame), ...newsOf(sight, frame)];
  // The row of the cursor stays free. If both do not fit, the lines below are cut first.
  const freeRows = Math.max(1, frame.rows - 1 - head.length);
  const steps = stepsOf(sight.operation, Math.max(Math.min(3, freeRows), freeRows - below.length), frame);
  return [...head, ...steps, ...below].slice(0, head.length + freeRows);
}

function headOf(operation: Operation, frame: Frame): string[] {
  const { resource_name, kind, status, progress, id } = operation;
  const line = lineOf(frame).add(resource_name, 'bold').add(`  ${kind}  `).add(status, STATUSES[status]);
  const left = timeLeft(operation, frame.now);
  const head = String(line.addWhole(`  ${progress} %`).addWhole(`  ${id}`, 'grey'));
  const waits = frame.showsWait && needsPerson(operation) ? waitLines(operation) : [];
  return [
    head,
    ...(left ? [String(lineOf(frame).add(`  ${left}`))] : []),
    ...waits.map((one) => String(lineOf(frame).add(`  ${one}`, 'yellow'))),
  ];
}

/** If not all steps fit, shows those around the current one, and the number of earlier and later steps. */
function stepsOf(operation: Operation, freeRows: number, frame: Frame): string[] {
  const { steps } = operation;
  const shown = steps.length <= freeRows ? steps : windowOf(steps, freeRows);
  const first = shown[0]?.index ?? 0;
  const behind = steps.length - shown.length - steps.findIndex(({ index }) => index === first);
  const lines = shown.map((step) => stepLine(step, operation, frame));
  if (shown.length === steps.length) return lines;
  const before = steps.length - shown.length - behind;
  const more = [before > 0 && `${before} earlier`, behind > 0 && `${behind} later`].filter(Boolean).join(', ');
  return [...lines, String(lineOf(frame).add(`  … ${more}`, 'grey'))];
}

function windowOf(steps: readonly OperationStep[], freeRows: number): readonly OperationStep[] {
  const size = Math.max(1, freeRows - 1);
  const open = steps.findIndex(({ status }) => !['succeeded', 'skipped'].includes(status));
  const current = open === -1 ? steps.length - 1 : open;
  const from = Math.max(0, Math.min(current - Math.floor(size / 2), steps.length - size));
  return steps.slice(from, from + size);
}

function stepLine(step: OperationStep, operation: Operation, frame: Frame): string {
  const [mark, colour] = MARKS[step.status] ?? ['?', undefined];
  const line = lineOf(frame)
    .add(`  ${mark} `, colour)
    .add(cell(step.name, frame.columns < NARROW ? 16 : 20));
  const time = timeOf(step, frame.now);
  if (time) line.addWhole(` ${time.padStart(10)}`);
  const message = shareNote(step) ?? (isSoaking(step) || isToldAtEnd(step, operation) ? '' : step.message);
  if (message && frame.columns >= NARROW) line.add(`  ${remedyOf(message)}`, 'grey');
  return String(line);
}

/** The remaining time if the step says when it ends, or else the time that it has taken. */
function timeOf(step: OperationStep, now: number): string {
  const until = endOf(step);
  if (until !== undefined) return `${clock(until - now)} left`;
  if (!step.started_at) return '';
  const end = step.completed_at ? Date.parse(step.completed_at) : now;
  return clock(end - Date.parse(step.started_at));
}

/** The error with which the command ends has the same message. */
const isToldAtEnd = ({ status }: OperationStep, { completed_at }: Operation): boolean =>
  status === 'failed' && completed_at != null;

/** Sessions can make the real share of a soak differ from the configured one. */
export function shareNote({ evidence }: OperationStep): string | undefined {
  const { share } = (evidence ?? {}) as { share?: Record<string, unknown> | null };
  const { configured_percent: configured, received_percent: received, sessions } = share ?? {};
  if (typeof configured !== 'number' || typeof received !== 'number') return undefined;
  const by = typeof sessions === 'number' ? `, ${counted(sessions, 'session')}` : '';
  return `${short(configured)} % requested, ${short(received)} % received${by}`;
}

const isSoaking = (step: OperationStep): boolean => endOf(step) !== undefined;

/** The candidate's share is on the right of the bar. */
function trafficOf({ traffic, operation }: OperationProgress, frame: Frame): string[] {
  if (traffic.length === 0) return [];
  const candidate = operation.result['revision'];
  const share = traffic.find(({ revision }) => revision === candidate)?.weight ?? 0;
  const columns = Math.min(WIDEST_BAR, Math.max(4, frame.columns - 34));
  const filled = Math.round((share / 100) * columns);
  const line = lineOf(frame).add('  traffic ');
  line.add('░'.repeat(columns - filled), 'grey').add('█'.repeat(filled), 'green');
  return [String(line.add(` ${share} % `).add(typeof candidate === 'string' ? candidate : ''))];
}

function gatesOf({ checks }: OperationProgress, frame: Frame): string[] {
  if (checks.length === 0) return [];
  if (frame.columns < NARROW) return checks.map((check) => narrowCheck(check, frame));
  const head = ['', 'candidate', 'baseline', 'limit', 'verdict'];
  const rows = checks.map((one) => [
    `${one.metric} ${one.stat}`.trim(),
    measured(one.metric, one.candidate),
    measured(one.metric, one.baseline),
    limitOf(one),
    one.verdict || 'not checked yet',
  ]);
  const columnsOf = [24, 11, 11, 9];
  return [head, ...rows].map((row) => {
    const line = lineOf(frame).add('  ');
    for (const [index, text] of row.entries())
      if (index < 4) line.add(`${cell(text, columnsOf[index] as number)} `);
      else line.add(text, VERDICTS[text]);
    return String(line);
  });
}

const narrowCheck = (check: GateCheck, frame: Frame): string =>
  String(
    lineOf(frame)
      .add(`  ${check.metric} ${measured(check.metric, check.candidate)}/${measured(check.metric, check.baseline)} `)
      .add(check.verdict, VERDICTS[check.verdict]),
  );

export function limitOf({ metric, check, limit }: GateCheck): string {
  if (limit === null) return '-';
  if (check === 'guard') return `+${short(100 * limit)} pts`;
  return check === 'regression' ? `+${short(limit)} %` : measured(metric, limit);
}

const newsOf = (sight: OperationProgress, frame: Frame): string[] =>
  sight.news
    .slice(-MOST_NEWS)
    .map((one) => String(lineOf(frame).add(`  ${one.at.slice(11, 19)} ${newsText(sight, one)}`, 'grey')));

const lineOf = ({ columns, hasColour }: Frame): Line => new Line(columns, hasColour);

import type { OperationStep } from '@slipway/sdk';
import type { OperationProgress } from './sight.js';
import { measured } from './text.js';
import { timeLeft } from './time-left.js';
import { limitOf } from './view.js';

/** What there is to say of a change, for logs and pipes: whole lines, nothing twice. */
export function linesBetween(before: OperationProgress | undefined, after: OperationProgress, now: number): string[] {
  const known = new Map(before?.operation.steps.map((step) => [step.index, said(step)]));
  const steps = after.operation.steps.filter(
    (step) => step.status !== 'pending' && known.get(step.index) !== said(step),
  );
  const judged = after.judgedStep !== (before?.judgedStep ?? '') ? checkLines(after) : [];
  const seen = new Set(before?.news);
  const news = after.news.filter((one) => !seen.has(one)).map(({ text }) => text);
  // Once more whenever a soak begins or ends: between them it only counts down.
  const left = soaksOf(after) === soaksOf(before) ? undefined : timeLeft(after.operation, now);
  return [...steps.map(said), ...news, ...judged, ...(left ? [left] : [])];
}

const soaksOf = (sight: OperationProgress | undefined): string | undefined =>
  sight?.operation.steps.flatMap(({ name, status }) => (name.startsWith('soak:') ? [status] : [])).join();

const said = ({ name, status, message }: OperationStep): string =>
  `${name}: ${status}${message ? ` (${message})` : ''}`;

const checkLines = ({ checks, judgedStep }: OperationProgress): string[] =>
  checks.map((one) => {
    const values = `candidate ${measured(one.metric, one.candidate)}, baseline ${measured(one.metric, one.baseline)}`;
    return `${judgedStep} ${one.metric} ${one.stat}: ${values}, limit ${limitOf(one)}: ${one.verdict}`;
  });

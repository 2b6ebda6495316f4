import { Chip } from './chip.js';
import { endOf, evidenceText, lengthOf, shareText, type StepRecord } from './text/step-text.js';
import { useNow } from './time.js';
import { inWords, lengthText } from './text/time-text.js';

/** No operation has this many; external data is bounded anyway. */
const MOST_STEPS = 300;

/** The steps of long work, in order: their results, durations and evidence. */
export function Steps({ steps, label }: { steps: StepRecord[]; label: string }) {
  const now = useNow();
  return (
    <ol aria-label={label} className="space-y-1 text-sm">
      {steps.slice(0, MOST_STEPS).map((step) => (
        <li key={step.index} className="border-b border-line pb-1 last:border-0">
          <div className="flex flex-wrap items-center gap-x-2 gap-y-0.5">
            <code className="min-w-36 font-medium">{step.name}</code>
            <Chip word={step.status} />
            <StepTimes step={step} now={now} />
          </div>
          {step.message && <p className="text-xs break-words text-soft">{step.message}</p>}
          <ShareNote evidence={step.evidence} />
          <StepEvidence step={step} />
        </li>
      ))}
    </ol>
  );
}

/** Shows that sessions give a revision another share of the traffic than its step says. */
export function ShareNote({ label = 'Traffic', evidence }: { label?: string } & Pick<StepRecord, 'evidence'>) {
  const text = shareText(evidence);
  if (!text) return null;
  return (
    <span className="block text-xs text-warn">
      {label}: {text}
    </span>
  );
}

function StepTimes({ step, now }: { step: StepRecord; now: number }) {
  const length = lengthOf(step, now);
  const end = endOf(step);
  return (
    <span className="ml-auto text-xs text-soft tabular-nums">
      {length !== undefined && lengthText(length)}
      {end !== undefined && `, ends ${inWords(now - end)}`}
    </span>
  );
}

function StepEvidence({ step }: { step: StepRecord }) {
  const text = evidenceText(step.evidence);
  if (text === undefined) return null;
  return (
    <details className="text-xs">
      <summary className="cursor-pointer text-soft">Evidence</summary>
      <pre
        tabIndex={0}
        role="region"
        aria-label={`Evidence of ${step.name}`}
        className="mt-1 max-h-64 overflow-auto rounded bg-sunken p-2"
      >
        {text}
      </pre>
    </details>
  );
}

import { useEffect, useRef, type RefObject } from 'react';
import { Chip } from './chip.js';
import { classes } from './classes.js';
import { endOf, evidenceText, lengthOf, shareText, type StepRecord } from './text/step-text.js';
import { useNow } from './time.js';
import { inWords, lengthText } from './text/time-text.js';

/** No operation has this many; external data is bounded anyway. */
const MOST_STEPS = 300;

interface StepsProps {
  steps: StepRecord[];
  label: string;
  /** The name of the step that failed or runs: it is brought into view. */
  decisive?: string;
}

/** The steps of long work, in order: their results, durations and evidence. */
export function Steps({ steps, label, decisive }: StepsProps) {
  const now = useNow();
  const list = useRef<HTMLOListElement>(null);
  useStepInView(list, decisive);
  return (
    <ol ref={list} aria-label={label} className="space-y-1 text-sm">
      {steps.slice(0, MOST_STEPS).map((step) => (
        <li
          key={step.index}
          data-step={step.name}
          aria-current={step.name === decisive ? 'step' : undefined}
          className={classes(
            'scroll-my-16 rounded-sm border-b border-line px-1 pb-1 last:border-0',
            step.name === decisive && 'bg-accent-soft',
          )}
        >
          <div className="flex flex-wrap items-center gap-x-2 gap-y-0.5">
            <code className="min-w-36 font-medium">{step.name}</code>
            <Chip word={step.status} />
            <StepTimes step={step} now={now} />
          </div>
          {step.message && <p className="text-xs wrap-break-word text-soft">{step.message}</p>}
          <ShareNote evidence={step.evidence} />
          <StepEvidence step={step} />
        </li>
      ))}
    </ol>
  );
}

/**
 * Brings the named step into view: when it is first known, and when the work reaches the next step while the reader
 * still looks at the previous one.
 */
function useStepInView(list: RefObject<HTMLElement | null>, name: string | undefined): void {
  const shown = useRef<string>(undefined);
  useEffect(() => {
    const previous = shown.current;
    shown.current = name;
    if (name === undefined || (previous !== undefined && !isInView(stepIn(list.current, previous)))) return;
    // After the router, which returns to the top of a page that it has just drawn.
    const frame = requestAnimationFrame(() => stepIn(list.current, name)?.scrollIntoView({ block: 'nearest' }));
    return () => cancelAnimationFrame(frame);
  }, [list, name]);
}

const stepIn = (list: HTMLElement | null, name: string): Element | null | undefined =>
  list?.querySelector(`[data-step="${CSS.escape(name)}"]`);

function isInView(element: Element | null | undefined): boolean {
  const { top, bottom } = element?.getBoundingClientRect() ?? { top: -1, bottom: -1 };
  return top < innerHeight && bottom > 0;
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

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { actorName } from '../../api/actor-name.js';
import { remediationOf } from '../../api/remediation.js';
import { systemQuery } from '../../api/system.js';
import type { OperationStep } from '@slipway/sdk';
import { useEffect, useRef, type ReactNode } from 'react';
import { WaitNote } from '../../rollouts/wait-note.js';
import { waitNoun } from '../../rollouts/waiting-text.js';
import { Chip } from '../../ui/chip.js';
import { classes } from '../../ui/classes.js';
import { CopyButton } from '../../ui/copy.js';
import { EmptyState } from '../../ui/empty-state.js';
import { Loaded } from '../../ui/loaded.js';
import { Panel } from '../../ui/panel.js';
import { ShareNote } from '../../ui/steps.js';
import { oneLine } from '../../ui/text/one-line.js';
import { Time, useNow } from '../../ui/time.js';
import { lengthText } from '../../ui/text/time-text.js';
import { useOperations } from './deployment-data.js';
import {
  decisiveStepOf,
  hasNoWorker,
  isLive,
  stepPositionOf,
  resumeMs,
  shownOperation,
  stepMs,
  unclaimedMs,
  type Operation,
} from '../../api/operation-state.js';
import { Scrolled } from './scrolled.js';

/** Of the message of a step: the page of the operation has all of it. */
const MOST_TEXT = 200;
/** Pixels that stay free next to a step that was scrolled to. */
const EDGE = 8;

/** Shows the running operation, or else the last one, step by step. */
export function OperationPanel({ name, className }: { name: string; className?: string }) {
  const operations = useOperations(name);
  const operation = shownOperation(operations.data ?? []);
  return (
    <Panel
      title="Operation"
      className={className}
      note={
        operation && (
          <>
            <Chip word={operation.status} />
            <span className="text-xs text-soft">
              {operation.kind}, {operation.progress} %
            </span>
          </>
        )
      }
      actions={
        operation && (
          <Link to="/operations/$id" params={{ id: operation.id }} className="text-xs underline">
            Show details
          </Link>
        )
      }
    >
      <Loaded query={operations} what="the operations">
        {() =>
          operation ? (
            <Scrolled label="Operation and steps">
              <Shown operation={operation} />
            </Scrolled>
          ) : (
            <EmptyState
              title="No operations yet. A rollout starts the first one."
              command={`slipway rollouts create ${name} --revision-file spec.yaml --wait`}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}

function Shown({ operation }: { operation: Operation }) {
  const { n, of } = stepPositionOf(operation);
  return (
    <div className="space-y-2 text-xs">
      <Standstill operation={operation} />
      {operation.error_code && (
        <div
          className={classes(
            'rounded-md p-2',
            operation.status === 'failed' ? 'bg-bad-soft text-bad' : 'bg-sunken text-soft',
          )}
        >
          <p className="font-medium break-words">
            <code>{operation.error_code}</code>: {operation.message}
          </p>
          <p>{remediationOf(operation)}</p>
        </div>
      )}
      <OperationSteps operation={operation} />
      <dl className="grid grid-cols-[auto_1fr] gap-x-3 gap-y-0.5 border-t border-line pt-2">
        <Fact term="Step">
          {n} of {of}, <code>{operation.current_step || 'none yet'}</code>
        </Fact>
        <Fact term="Attempt">
          {operation.attempt} of {operation.max_attempts}
        </Fact>
        {operation.waiting_for && <Fact term="Waits for">{waitNoun(operation.waiting_for)}</Fact>}
        <NextTry operation={operation} />
        {!operation.error_code && operation.message && <Fact term="Message">{operation.message}</Fact>}
        <Fact term="Requested">
          <Time at={operation.created_at} /> by {actorName(operation.requested_by)}
        </Fact>
        {operation.reason && <Fact term="Reason">{operation.reason}</Fact>}
        {operation.cancel_reason && <Fact term="Cancel reason">{operation.cancel_reason}</Fact>}
        {operation.superseded_by && <Fact term="Superseded by">{operation.superseded_by}</Fact>}
        {operation.idempotency_key && (
          <Fact term="Idempotency key">
            <code>{operation.idempotency_key}</code>
          </Fact>
        )}
        {operation.request_id && (
          <Fact term="Request">
            <code>{operation.request_id}</code>
          </Fact>
        )}
        <Fact term="ID">
          <code>{operation.id}</code> <CopyButton text={operation.id} label="Copy operation ID" />
        </Fact>
      </dl>
    </div>
  );
}

function NextTry({ operation }: { operation: Operation }) {
  const now = useNow();
  const at = resumeMs(operation);
  if (at === null) return null;
  const word = operation.attempt > 1 ? 'Next attempt' : 'Continues';
  return <Fact term={word}>{at > now ? `in ${lengthText(at - now)}` : 'now'}</Fact>;
}

/** Shows why nothing moves, if so. */
function Standstill({ operation }: { operation: Operation }) {
  const unclaimed = unclaimedMs(operation, useNow());
  const { data: system } = useQuery(systemQuery);
  if (unclaimed !== null || (isLive(operation) && hasNoWorker(system?.workers)))
    return (
      <p role="alert" className="rounded-md bg-bad-soft p-2 font-medium text-bad">
        No worker is polling{unclaimed !== null && `, and this operation has waited for ${lengthText(unclaimed)}`}.
        Start a worker. The operation then continues automatically.
      </p>
    );
  if (operation.cancel_requested && isLive(operation))
    return <p className="rounded-md bg-warn-soft p-2 text-warn">The operation is being cancelled.</p>;
  return <WaitNote operation={operation} />;
}

function OperationSteps({ operation }: { operation: Operation }) {
  const now = useNow();
  const decisive = decisiveStepOf(operation);
  const current = useRef<HTMLLIElement>(null);
  useEffect(() => {
    const list = current.current?.closest('[role=region]');
    // The page itself must not scroll: only the list that contains the step does.
    if (list && current.current) showIn(list, current.current);
  }, [operation.id, decisive?.name]);
  return (
    <ol aria-label="Steps" className="divide-y divide-line">
      {operation.steps.slice(0, 200).map((step) => {
        const isCurrent = step === decisive;
        return (
          <li
            key={step.index}
            ref={isCurrent ? current : undefined}
            aria-current={isCurrent ? 'step' : undefined}
            className={classes('flex items-center gap-2 px-1 py-0.5', isCurrent && 'bg-accent-soft')}
          >
            <span className="w-5 shrink-0 text-right text-soft">{step.index + 1}</span>
            <span className="min-w-0 grow">
              <code className="font-medium">{step.name}</code>
              {step.message && (
                <span className="block wrap-break-word text-soft" title={step.message}>
                  {oneLine(step.message, MOST_TEXT)}
                </span>
              )}
              <ShareNote evidence={step.evidence} />
            </span>
            <Length step={step} now={now} />
            <Chip word={step.status} />
          </li>
        );
      })}
    </ol>
  );
}

/** Scrolls the list as little as it needs to show the step whole. */
function showIn(list: Element, step: Element): void {
  const [all, one] = [list.getBoundingClientRect(), step.getBoundingClientRect()];
  if (one.bottom > all.bottom) list.scrollTop += one.bottom - all.bottom + EDGE;
  else if (one.top < all.top) list.scrollTop -= all.top - one.top + EDGE;
}

function Length({ step, now }: { step: OperationStep; now: number }) {
  const ms = stepMs(step, now);
  return <span className="whitespace-nowrap text-soft">{ms === null ? '' : lengthText(ms)}</span>;
}

function Fact({ term, children }: { term: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-soft">{term}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}

import type { Schemas } from '@slipway/sdk';
import { useMutation } from '@tanstack/react-query';
import { useEffect, type ReactNode } from 'react';
import { Button } from '../../../ui/button.js';
import { CopyAs } from '../../../ui/copy.js';
import { Dialog } from '../../../ui/dialogs/dialog.js';
import { IN_PRODUCTION, useNameField } from '../../../ui/dialogs/name-field.js';
import { ErrorNote } from '../../../ui/error-note.js';
import type { ActionCommands } from '../../../ui/text/shell-line.js';
import { Waiting } from '../../../ui/waiting.js';
import { Changes } from '../changes.js';

/** A preview follows this long after the last letter of a text. */
const TYPING_MS = 250;

export type OperationRehearsal = Schemas['RehearsalDto'] &
  Partial<Pick<Schemas['RolloutRehearsalDto'], 'capacity' | 'strategy'>> & {
    /** Of a rollback, from an api that reports it. */
    revision?: string;
    ready_instances?: number;
  };

interface RehearsedDialogProps {
  title: string;
  verb: string;
  isDangerous?: boolean;
  /** Shows the effect without a request for it, and again after each change. For a form that is complete when it opens. */
  isPreviewedAtOnce?: boolean;
  /** More about the effect than the api reports. */
  effect?: (rehearsal: OperationRehearsal) => ReactNode;
  /** The text to type first: the name of a production deployment. */
  nameToType?: string;
  /** The request to send; undefined while `fault` says what is missing. */
  body: object | undefined;
  fault?: string;
  rehearse: (body: object) => Promise<OperationRehearsal>;
  run: { mutate: (body: object) => void; isPending: boolean; error: Error | null; variables: unknown };
  actionOf: (body: object) => ActionCommands;
  onClose: () => void;
  /** @param refusal why the api refused the current form, in a rehearsal or in the action itself */
  children: (refusal: Error | null) => ReactNode;
}

/** A dialog for a large change: its effect is shown first, and only the shown change can be confirmed. */
export function RehearsedDialog(props: RehearsedDialogProps) {
  const {
    title,
    verb,
    isDangerous,
    isPreviewedAtOnce,
    effect,
    nameToType,
    body,
    fault,
    rehearse,
    run,
    actionOf,
    onClose,
    children,
  } = props;
  const name = useNameField(nameToType, IN_PRODUCTION);
  const text = JSON.stringify(body);
  const rehearsal = useMutation({ mutationFn: (given: object) => rehearse(given) });
  const isNow = ({ variables }: { variables: unknown }) => JSON.stringify(variables) === text;
  const told = isNow(rehearsal) ? rehearsal.data : undefined;
  const refusal = (isNow(run) && run.error) || (isNow(rehearsal) && rehearsal.error) || null;
  const { mutate } = rehearsal;
  useEffect(() => {
    if (!isPreviewedAtOnce || text === undefined) return;
    const timer = setTimeout(() => mutate(JSON.parse(text) as object), TYPING_MS);
    return () => clearTimeout(timer);
  }, [isPreviewedAtOnce, text, mutate]);
  return (
    <Dialog
      isOpen
      isWide
      onClose={onClose}
      title={title}
      footer={
        <>
          <span className="mr-auto">{body && <CopyAs action={actionOf(body)} />}</span>
          <Button onClick={onClose}>Cancel</Button>
          {(!isPreviewedAtOnce || rehearsal.isError) && (
            <Button isBusy={rehearsal.isPending} disabled={!body} onClick={() => mutate(body!)}>
              Preview
            </Button>
          )}
          <Button
            kind={isDangerous ? 'danger' : 'primary'}
            isBusy={run.isPending}
            disabled={!body || !told?.valid || !name.isTyped}
            onClick={() => run.mutate(body!)}
          >
            {verb}
          </Button>
        </>
      }
    >
      {children(refusal)}
      {fault && (
        <p role="status" className="text-sm text-bad">
          {fault}
        </p>
      )}
      {rehearsal.error && !told && <ErrorNote error={rehearsal.error} />}
      {told ? (
        <RehearsalResult rehearsal={told}>{effect?.(told)}</RehearsalResult>
      ) : isPreviewedAtOnce ? (
        !refusal && body && <Waiting for="the preview" />
      ) : (
        <p className="text-sm text-soft">Preview the operation before you start it.</p>
      )}
      {name.field}
      {run.error && <ErrorNote error={run.error} />}
    </Dialog>
  );
}

/** The requested preview must be visible, however long the form above it is. */
const intoView = (node: HTMLElement | null) => node?.scrollIntoView({ block: 'nearest' });

function RehearsalResult({
  rehearsal: { would, steps, diff, capacity, strategy, warnings = [] },
  children,
}: {
  rehearsal: OperationRehearsal;
  children?: ReactNode;
}) {
  return (
    <section aria-label="Preview" ref={intoView} className="space-y-2 rounded-md border border-accent p-3 text-sm">
      <p role="status">
        This would <strong>{would}</strong>
        {strategy && ` (strategy: ${strategy})`}.
      </p>
      {children}
      <Changes changes={diff} none="The spec does not change." />
      <p className="text-xs">
        Steps:{' '}
        {steps.slice(0, 100).map((step, index) => (
          <span key={step}>
            {index > 0 && <span aria-hidden> → </span>}
            <code className="whitespace-nowrap">{step}</code>
          </span>
        ))}
      </p>
      {capacity && (
        <p className="text-xs">
          Capacity on {capacity.target}: {capacity.needed} needed, {capacity.free ?? 'an unknown number'} free.{' '}
          {capacity.gap_seconds
            ? `Serving is interrupted for about ${capacity.gap_seconds} s.`
            : 'Serving is not interrupted.'}
        </p>
      )}
      {warnings.map(({ code, field, message }) => (
        <p key={`${code} ${field}`} className="text-xs text-warn">
          {message ?? `${code}: ${field}`}
        </p>
      ))}
    </section>
  );
}

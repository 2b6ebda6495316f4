import { isSlipwayError } from '@slipway/sdk';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { QueryKey } from '@tanstack/react-query';
import { useAction } from '../api/action.js';
import { SchemaDialog } from '../forms/schema-dialog.js';
import { useSchemaForm } from '../forms/use-schema-form.js';
import type { Layout } from '../forms/layout.js';
import { Button } from '../ui/button.js';
import { ConfirmDialog } from '../ui/dialogs/confirm-dialog.js';
import { useOpener } from '../ui/dialogs/dialog.js';
import { IN_PRODUCTION, useNameField } from '../ui/dialogs/name-field.js';
import { SecretDialog } from '../ui/dialogs/secret-dialog.js';
import type { Action } from './action.js';
import { commandsOf } from './commands.js';

const NO_FIELDS: Layout = { operation: '', shown: { '': [] } };

interface ActionDialogProps<Row> {
  action: Action<Row>;
  row: Row;
  /** The queries that are read again after success. */
  renews: readonly QueryKey[];
  onClose: () => void;
}

/** Asks before an action, or for its fields; shows why it failed, and a secret that it made. */
export function ActionDialog<Row>({ action, row, renews, onClose }: ActionDialogProps<Row>) {
  const opener = useOpener();
  const nameToType = action.nameToType?.(row);
  const name = useNameField(nameToType, IN_PRODUCTION);
  const [start] = useState(() => ({ layout: action.layout?.(row), value: action.value?.(row) }));
  const form = useSchemaForm<unknown>(action.request, start.layout ?? NO_FIELDS, {
    value: start.value,
    fixed: action.fixed?.(row),
    isPatch: action.isPatch,
  });
  const body = form.body as object;
  const etag = action.etag?.(row);
  const run = useAction<unknown, unknown>({
    run: (given) => action.run(row, given, etag === undefined ? {} : { ifMatch: etag }),
    renews: [...renews],
    done: action.done && ((answer) => action.done!(answer, row)),
    onDone: (answer) => {
      action.onDone?.(answer, row);
      if (!action.secret) onClose();
    },
  });
  if (action.secret && run.data !== undefined) {
    const { text, value, ...secret } = action.secret(run.data, row);
    return (
      <SecretDialog {...secret} secret={value} onClose={onClose} returnTo={opener}>
        <p className="text-sm">{text}</p>
      </SecretDialog>
    );
  }

  const { verb, request, cli } = action;
  const ids = action.ids?.(row) ?? idsOf(row);
  const common = {
    onClose,
    title: action.title(row),
    verb,
    isDangerous: action.isDangerous ?? action.isDangerousWith?.(row, body),
    action: commandsOf({ request, ids, body, etag }, cli),
  };
  const effect = action.effect?.(row, body);
  const notes = (
    <>
      {effect && <div className="space-y-2 text-sm">{effect}</div>}
      <LastAdminNote error={run.error} />
      <BlockedBy error={run.error} />
    </>
  );
  if (!start.layout)
    return (
      <ConfirmDialog
        {...common}
        isOpen
        nameToType={nameToType}
        isBusy={run.isPending}
        error={run.error}
        onConfirm={() => run.mutate(body)}
      >
        {notes}
      </ConfirmDialog>
    );
  return (
    <SchemaDialog
      {...common}
      form={form}
      run={run}
      description={action.description}
      widgets={action.widgets?.(form, row)}
      isComplete={name.isTyped}
    >
      {notes}
      {name.field}
    </SchemaDialog>
  );
}

/** Explains why a person is the last admin although there seem to be others. */
function LastAdminNote({ error }: { error: unknown }) {
  if (!isSlipwayError(error, 'last_admin')) return null;
  return (
    <p className="text-sm">
      Admins are active tokens and identities with the scope admin. An identity counts only if hosted sign-in is
      configured and its organization is assigned to this tenant, because other identities cannot sign in.
    </p>
  );
}

/** Leads to the operation that blocks a request. */
function BlockedBy({ error }: { error: unknown }) {
  const id = isSlipwayError(error) ? error.body?.operation_id : undefined;
  if (!id) return null;
  return (
    <Link to="/operations/$id" params={{ id }} className="text-sm underline">
      Show the operation that blocks it
    </Link>
  );
}

const idsOf = (row: unknown): string[] => (row === undefined ? [] : [(row as { id: string }).id]);

/**
 * The dialog of one action at a time, for a list or a page. It belongs to the page, because a row may leave its list
 * while its dialog still shows a secret.
 */
export function useActions<Row>(...renews: QueryKey[]) {
  const [opened, setOpened] = useState<{ action: Action<Row>; row: Row }>();
  return {
    open: (action: Action<Row>, row: Row) => setOpened({ action, row }),
    dialog: opened && <ActionDialog {...opened} renews={renews} onClose={() => setOpened(undefined)} />,
  };
}

/** More buttons than these are folded. */
const MOST_SHOWN = 4;

interface ActionButtonsProps<Row> {
  actions: readonly Action<Row>[];
  row: Row;
  /** Tells the buttons of rows apart, for screen readers. */
  name?: string;
  isSmall?: boolean;
  onOpen: (action: Action<Row>, row: Row) => void;
}

/** The actions on a row: the first ones as buttons, and the others folded if there are many. */
export function ActionButtons<Row>({ actions, row, name, isSmall, onOpen }: ActionButtonsProps<Row>): ReactNode {
  const offered = actions.filter(({ isFor }) => isFor?.(row) ?? true);
  const shown = offered.length > MOST_SHOWN ? offered.slice(0, MOST_SHOWN - 1) : offered;
  const button = (action: Action<Row>) => {
    const word = action.button ?? action.verb;
    return (
      <Button
        key={word}
        kind={action.isDangerous && !action.isOpenedPlainly ? 'danger' : 'plain'}
        isSmall={isSmall}
        aria-label={name === undefined ? undefined : `${word}: ${name}`}
        onClick={() => onOpen(action, row)}
      >
        {word}
      </Button>
    );
  };
  return (
    <>
      {shown.map(button)}
      {shown.length < offered.length && (
        <details>
          <summary className="min-h-7 cursor-pointer px-2 text-xs leading-7" aria-label={name && `More: ${name}`}>
            More
          </summary>
          <div className="flex flex-wrap gap-1">{offered.slice(shown.length).map(button)}</div>
        </details>
      )}
    </>
  );
}

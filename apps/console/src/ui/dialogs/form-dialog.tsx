import { useId, type FormEvent, type ReactNode } from 'react';
import { Button } from '../button.js';
import { CopyAs } from '../copy.js';
import { Dialog } from './dialog.js';
import { ErrorNote } from '../error-note.js';
import type { ActionCommands } from '../text/shell-line.js';

interface FormDialogProps {
  onClose: () => void;
  title: string;
  description?: ReactNode;
  /** The word on the button that sends it. */
  verb: string;
  isDangerous?: boolean;
  /** Whether it contains the required fields; the api decides finally. */
  isComplete?: boolean;
  isBusy?: boolean;
  error?: unknown;
  action?: ActionCommands;
  onSubmit: () => void;
  children: ReactNode;
}

/** Fields, and a button that sends them; Enter does so too. It is open while it is mounted. */
export function FormDialog(props: FormDialogProps) {
  const { onClose, title, description, verb, isDangerous, isComplete = true, isBusy, error, action, children } = props;
  const id = useId();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isComplete && !isBusy) props.onSubmit();
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={title}
      description={description}
      footer={
        <>
          {action && (
            <span className="mr-auto">
              <CopyAs action={action} />
            </span>
          )}
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            form={id}
            kind={isDangerous ? 'danger' : 'primary'}
            isBusy={isBusy}
            disabled={!isComplete}
          >
            {verb}
          </Button>
        </>
      }
    >
      <form id={id} onSubmit={submit} className="space-y-3">
        {children}
      </form>
      {error !== undefined && error !== null && <ErrorNote error={error} />}
    </Dialog>
  );
}

import type { ReactNode } from 'react';
import { Button } from '../button.js';
import { CopyAs } from '../copy.js';
import { Dialog } from './dialog.js';
import { useNameField } from './name-field.js';
import { ErrorNote } from '../error-note.js';
import type { ActionCommands } from '../text/shell-line.js';

interface ConfirmDialogProps {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  /** The word on the button that confirms. */
  verb: string;
  /** The word on the button that closes the dialog. */
  dismissal?: string;
  isDangerous?: boolean;
  /** The text to type first, for actions that cannot be undone, and for production. */
  nameToType?: string;
  isBusy?: boolean;
  error?: unknown;
  action?: ActionCommands;
  onConfirm: () => void;
  children?: ReactNode;
}

/** Asks before an action, describes its effect, and shows why it failed. Mount a new one for each action. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const {
    isOpen,
    onClose,
    title,
    verb,
    dismissal = 'Cancel',
    isDangerous,
    nameToType,
    isBusy,
    error,
    action,
    onConfirm,
    children,
  } = props;
  const name = useNameField(nameToType);
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={title}
      footer={
        <>
          {action && (
            <span className="mr-auto">
              <CopyAs action={action} />
            </span>
          )}
          <Button onClick={onClose}>{dismissal}</Button>
          <Button
            kind={isDangerous ? 'danger' : 'primary'}
            isBusy={isBusy}
            disabled={!name.isTyped}
            onClick={onConfirm}
          >
            {verb}
          </Button>
        </>
      }
    >
      {children}
      {name.field}
      {error !== undefined && error !== null && <ErrorNote error={error} />}
    </Dialog>
  );
}

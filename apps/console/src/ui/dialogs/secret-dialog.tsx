import { useState, type ReactNode } from 'react';
import { Button } from '../button.js';
import { copyText } from '../copy.js';
import { Dialog } from './dialog.js';
import { TextField } from '../field.js';

interface SecretDialogProps {
  title: string;
  /** Its name in the api. */
  name: string;
  secret: string;
  onClose: () => void;
  /** The original opener: the dialog that made the secret is already gone. */
  returnTo: HTMLElement | null;
  /** Its purpose. */
  children?: ReactNode;
}

/** A secret that is shown only once: closing it before it was copied needs a confirmation. */
export function SecretDialog({ title, name, secret, onClose, returnTo, children }: SecretDialogProps) {
  const [isCopied, setCopied] = useState(false);
  const [isWarned, setWarned] = useState(false);
  const close = () => (isCopied || isWarned ? onClose() : setWarned(true));
  const copy = async () => {
    await copyText(secret);
    setCopied(true);
  };
  return (
    <Dialog
      isOpen
      onClose={close}
      returnTo={returnTo}
      title={title}
      footer={
        <>
          <Button autoFocus kind={isCopied ? 'plain' : 'primary'} onClick={() => void copy()}>
            Copy
          </Button>
          <Button kind={isCopied ? 'primary' : 'plain'} onClick={close}>
            {isWarned && !isCopied ? 'Close without copying' : 'Done'}
          </Button>
        </>
      }
    >
      {children}
      <TextField
        label={name}
        readOnly
        autoComplete="off"
        spellCheck={false}
        value={secret}
        className="font-mono"
        hint="It is shown only once."
        onFocus={(event) => event.target.select()}
        onCopy={() => setCopied(true)}
      />
      {isWarned && !isCopied && (
        <p role="alert" className="rounded-md bg-warn-soft p-3 text-sm text-warn">
          You have not copied it yet. After you close this dialog, it cannot be shown again.
        </p>
      )}
    </Dialog>
  );
}

import { useState, type ReactNode } from 'react';
import { Button } from '../button.js';
import { copyText } from '../copy.js';
import { Dialog } from './dialog.js';
import { TextField } from '../field.js';

interface SecretDialogProps {
  title: string;
  /** What the api calls it. */
  name: string;
  secret: string;
  onClose: () => void;
  /** Where it began: the dialog that made the secret is gone by now. */
  returnTo: HTMLElement | null;
  /** What it is for. */
  children?: ReactNode;
}

/** A secret that is shown this once: whoever closes it before they have copied it is asked again. */
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

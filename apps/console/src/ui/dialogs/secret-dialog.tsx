import { useState, type ReactNode } from 'react';
import { Button } from '../button.js';
import { copyText } from '../copy.js';
import { Dialog } from './dialog.js';
import { TextField } from '../field.js';

interface SecretDialogProps {
  title: string;
  /** Its name in the api. */
  name: string;
  /** Null if the response that had it was lost: the client repeated its request, and secrets are not stored. */
  secret: string | null;
  onClose: () => void;
  /** The original opener: the dialog that made the secret is already gone. */
  returnTo: HTMLElement | null;
  /** Its purpose. */
  children?: ReactNode;
}

/** A secret that is shown only once: closing it before it was copied needs a confirmation. */
export function SecretDialog({ secret, ...rest }: SecretDialogProps) {
  return secret === null ? <LostSecret {...rest} /> : <ShownSecret secret={secret} {...rest} />;
}

type SecretProps = Omit<SecretDialogProps, 'secret'>;

function LostSecret({ title, name, onClose, returnTo }: SecretProps) {
  return (
    <Dialog
      isOpen
      onClose={onClose}
      returnTo={returnTo}
      title={title}
      footer={<Button onClick={onClose}>Close</Button>}
    >
      <p role="alert" className="rounded-md bg-warn-soft p-3 text-sm text-warn">
        The response with the {name} was lost, and the {name} is shown only once. Rotate it, or create another one.
      </p>
    </Dialog>
  );
}

function ShownSecret({ title, name, secret, onClose, returnTo, children }: SecretProps & { secret: string }) {
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

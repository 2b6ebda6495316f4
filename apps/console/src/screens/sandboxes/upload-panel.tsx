import { isSlipwayError } from '@slipway/sdk';
import { Upload as UploadIcon } from 'lucide-react';
import { useId, useRef, useState, type DragEvent } from 'react';
import { Button } from '../../ui/button.js';
import { Chip, type Tone } from '../../ui/chip.js';
import { classes } from '../../ui/classes.js';
import { CopyButton } from '../../ui/copy.js';
import { ErrorNote } from '../../ui/error-note.js';
import { CheckField, TextField } from '../../ui/field.js';
import { Panel } from '../../ui/panel.js';
import { bytesText, pathIn, type WorkspaceCapacity } from './file-names.js';
import { uploadCli, uploadCurl } from './file-requests.js';
import { MOST_UPLOADS, useUploads, type Upload, type Uploads } from './use-uploads.js';

export function UploadPanel({ sandbox, capacity }: { sandbox: string; capacity: WorkspaceCapacity }) {
  const uploads = useUploads(sandbox);
  const [folder, setFolder] = useState('');
  const [mayReplace, setMayReplace] = useState(false);
  const add = (files: Iterable<File>) => uploads.add(files, folder, mayReplace, capacity);
  const example = pathIn(folder, 'model.bin');
  return (
    <Panel
      title="Upload"
      actions={
        <>
          <CopyButton text={uploadCurl(location.origin, sandbox, example, mayReplace)} label="Copy as curl">
            curl
          </CopyButton>
          <CopyButton text={uploadCli(sandbox, example, mayReplace)} label="Copy as CLI">
            CLI
          </CopyButton>
        </>
      }
    >
      <div className="space-y-3">
        <div className="grid items-end gap-3 sm:grid-cols-2">
          <TextField
            label="Folder"
            placeholder="data/input"
            hint="Default: the root of the workspace."
            maxLength={1000}
            value={folder}
            onChange={(event) => setFolder(event.target.value)}
          />
          <CheckField
            label="Replace existing files"
            hint="Otherwise the upload of an existing file fails."
            checked={mayReplace}
            onChange={(event) => setMayReplace(event.target.checked)}
          />
        </div>
        <DropBox onFiles={add} />
        {uploads.leftOut > 0 && (
          <p className="text-sm text-warn">
            {uploads.leftOut} files were skipped. The limit is {MOST_UPLOADS} files at once; the command line has no
            limit.
          </p>
        )}
        <Progress uploads={uploads} />
      </div>
    </Panel>
  );
}

/** A button that works with every keyboard and phone, surrounded by an area to drop files on. */
function DropBox({ onFiles }: { onFiles: (files: Iterable<File>) => void }) {
  const picker = useRef<HTMLInputElement>(null);
  const hint = useId();
  const [isOver, setOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    if (event.dataTransfer.files.length > 0) onFiles(event.dataTransfer.files);
  };
  return (
    <div
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
      className={classes(
        'flex flex-col items-center gap-2 rounded-md border border-dashed p-6 text-center',
        isOver ? 'border-accent bg-accent-soft' : 'border-line-strong',
      )}
    >
      <Button
        icon={<UploadIcon aria-hidden className="size-4" />}
        aria-describedby={hint}
        onClick={() => picker.current?.click()}
      >
        Choose files
      </Button>
      <p id={hint} className="text-xs text-soft">
        or drop them here. Pack a folder into one file first.
      </p>
      <input
        ref={picker}
        type="file"
        multiple
        tabIndex={-1}
        aria-label="Files to upload"
        className="hidden"
        onChange={(event) => {
          if (event.target.files) onFiles(event.target.files);
          // Allows the same file to be chosen again.
          event.target.value = '';
        }}
      />
    </div>
  );
}

const TONES: Record<Upload['state'], Tone> = {
  waiting: 'plain',
  sending: 'info',
  done: 'good',
  failed: 'bad',
  stopped: 'warn',
};

function Progress({ uploads: { uploads, stop, again, clear } }: { uploads: Uploads }) {
  if (uploads.length === 0) return null;
  const ended = uploads.filter(({ state }) => state !== 'waiting' && state !== 'sending').length;
  return (
    <div className="space-y-2">
      <p className="flex items-center gap-2 text-sm">
        <span role="status">{`${ended} of ${uploads.length} files finished`}</span>
        {ended > 0 && (
          <Button kind="quiet" isSmall onClick={clear}>
            Clear finished
          </Button>
        )}
      </p>
      <ul aria-label="Uploads" className="max-h-80 space-y-2 overflow-y-auto">
        {uploads.map((upload) => (
          <li key={upload.id} className="space-y-1 rounded-md border border-line p-2 text-sm">
            <UploadRow
              upload={upload}
              onStop={() => stop(upload.id)}
              onAgain={(replaces) => again(upload.id, replaces)}
            />
          </li>
        ))}
      </ul>
    </div>
  );
}

interface UploadRowProps {
  upload: Upload;
  onStop: () => void;
  onAgain: (mayReplace: boolean) => void;
}

function UploadRow({ upload, onStop, onAgain }: UploadRowProps) {
  const { path, file, state, sent, error, mayReplace } = upload;
  const isGoing = state === 'waiting' || state === 'sending';
  const isTaken = isSlipwayError(error, 'file_exists');
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <span className="min-w-0 grow break-all">{path}</span>
        <Chip word={state} tone={TONES[state]} />
        <span className="text-xs whitespace-nowrap text-soft">
          {state === 'sending' ? `${bytesText(Math.min(sent, file.size))} of ` : ''}
          {bytesText(file.size)}
        </span>
        {isGoing && (
          <Button isSmall aria-label={`Stop ${path}`} onClick={onStop}>
            Stop
          </Button>
        )}
        {isTaken && (
          <Button isSmall kind="danger" aria-label={`Replace ${path}`} onClick={() => onAgain(true)}>
            Replace
          </Button>
        )}
        {(state === 'stopped' || (isSlipwayError(error) && error.retryable)) && (
          <Button isSmall aria-label={`Retry ${path}`} onClick={() => onAgain(mayReplace)}>
            Retry
          </Button>
        )}
      </div>
      {state === 'sending' && (
        <progress
          aria-label={`Upload of ${path}`}
          max={Math.max(1, file.size)}
          value={sent}
          className="h-2 w-full accent-accent"
        />
      )}
      {error !== undefined && <ErrorNote error={error} />}
    </>
  );
}

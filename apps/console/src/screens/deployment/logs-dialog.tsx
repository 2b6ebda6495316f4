import type { LogLine } from '@slipway/sdk';
import { useEffect, useRef, useState } from 'react';
import { slipway } from '../../api/client.js';
import { CopyAs } from '../../ui/copy.js';
import { Dialog } from '../../ui/dialogs/dialog.js';
import { ErrorNote } from '../../ui/error-note.js';
import { CheckField, SelectField } from '../../ui/field.js';
import { classes } from '../../ui/classes.js';
import { useInstances } from './deployment-data.js';

const MOST_LINES = 500;
const MOST_LENGTH = 4_000;
const TELL_MS = 250;

type OutputChoice = 'both' | 'stdout' | 'stderr';
interface LogLines {
  lines: (LogLine & { n: number })[];
  error: Error | null;
  hasEnded: boolean;
}
const NO_LINES: LogLines = { lines: [], error: null, hasEnded: false };

/** Shows an engine's output as the engine writes it. */
export function LogsDialog({ name, instance, onClose }: { name: string; instance: string; onClose: () => void }) {
  const { data: instances } = useInstances(name);
  const [which, setWhich] = useState<OutputChoice>('both');
  const [isPrevious, setPrevious] = useState(false);
  const { lines, error, hasEnded } = useLogLines({ name, instance, which, isPrevious });
  const about = instances?.find(({ id }) => id === instance);
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    if (box.current && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines]);
  return (
    <Dialog
      isOpen
      isWide
      onClose={onClose}
      title={`Logs of ${about ? `${about.revision}/${about.ordinal}` : instance}`}
      description={
        hasEnded
          ? 'The log has ended.'
          : error
            ? 'The log stream was interrupted.'
            : 'New lines appear as they are written. Scroll to the end to follow them.'
      }
      footer={
        <CopyAs
          action={{
            curl: {
              method: 'GET',
              path: `/api/v1/deployments/${name}/instances/${instance}/logs?tail=200&stream=${which}`,
            },
            cli: `slipway logs ${name} ${instance} --follow --stream ${which}`,
          }}
        />
      }
    >
      <div className="flex flex-wrap items-end gap-4">
        <SelectField
          label="Stream"
          className="w-40"
          value={which}
          onChange={(event) => setWhich(event.target.value as OutputChoice)}
        >
          <option value="both">both</option>
          <option value="stdout">stdout</option>
          <option value="stderr">stderr</option>
        </SelectField>
        <CheckField
          label="Logs of the previous start"
          checked={isPrevious}
          onChange={(event) => setPrevious(event.target.checked)}
        />
      </div>
      {error && <ErrorNote error={error} />}
      <div
        ref={box}
        role="log"
        aria-live="off"
        aria-label="Log lines"
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
          isAtEnd.current = scrollTop + clientHeight >= scrollHeight - 8;
        }}
        className="h-96 overflow-auto rounded bg-sunken p-2 font-mono text-xs"
      >
        {lines.length === 0 && <p className="text-soft">No log lines yet.</p>}
        {lines.map(({ n, at, stream, text }) => (
          <p key={n} className={classes('break-all whitespace-pre-wrap', stream === 'stderr' && 'text-warn')}>
            <span className="text-soft">
              {at.slice(11, 23)} {stream === 'stderr' ? 'err' : 'out'}{' '}
            </span>
            {text.slice(0, MOST_LENGTH)}
          </p>
        ))}
      </div>
    </Dialog>
  );
}

interface LogRequest {
  name: string;
  instance: string;
  which: OutputChoice;
  isPrevious: boolean;
}

function useLogLines({ name, instance, which, isPrevious }: LogRequest): LogLines {
  const [told, setTold] = useState<LogLines>(NO_LINES);
  useEffect(() => {
    const stopped = new AbortController();
    const { signal } = stopped;
    let now: LogLines = NO_LINES;
    let n = 0;
    let telling: ReturnType<typeof setTimeout> | undefined;
    // Many lines per second are shown in few renderings.
    const tell = (changed: Partial<LogLines>) => {
      now = { ...now, ...changed };
      telling ??= setTimeout(() => {
        telling = undefined;
        if (!signal.aborted) setTold(now);
      }, TELL_MS);
    };
    setTold(NO_LINES);
    const follow = async () => {
      const options = { tail: 200, stream: which, previous: isPrevious || undefined, signal };
      for await (const line of slipway.deployments.instances.followLogs(name, instance, options))
        tell({ lines: [...now.lines.slice(1 - MOST_LINES), { ...line, n: (n += 1) }] });
      tell({ hasEnded: true });
    };
    follow().catch((error: Error) => !signal.aborted && tell({ error }));
    return () => {
      stopped.abort();
      clearTimeout(telling);
    };
  }, [name, instance, which, isPrevious]);
  return told;
}

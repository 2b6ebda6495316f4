import { actorName } from '../api/actor-name.js';
import type { Operation } from '../api/operation-state.js';
import { CommandLine } from '../ui/command-line.js';
import { Time } from '../ui/time.js';
import { waitCommand, waitSentence } from './waiting-text.js';

/** Shows what the operation waits for, who paused it, and the line to type if a person is needed. */
export function WaitNote({ operation }: { operation: Operation }) {
  const { pause } = operation;
  const sentence = waitSentence(operation);
  if (!sentence) return null;
  const command = waitCommand(operation);
  return (
    <div role="status" className="space-y-1 rounded-md bg-warn-soft p-2 text-warn">
      <p className="font-medium">{sentence}</p>
      {pause && (
        <p className="break-words">
          Paused <Time at={pause.at} /> by {actorName(pause.by)}
          {pause.reason ? `: ${pause.reason}` : '. No reason was given.'}
        </p>
      )}
      {command && <CommandLine command={command} />}
    </div>
  );
}

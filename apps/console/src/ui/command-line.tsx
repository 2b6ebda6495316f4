import { CopyButton } from './copy.js';

/** A line to type into a shell, and a button that copies it. */
export function CommandLine({ command }: { command: string }) {
  return (
    <span className="flex max-w-full items-center gap-2">
      <code className="overflow-x-auto rounded bg-sunken px-2 py-1 text-left text-xs text-text" tabIndex={0}>
        {command}
      </code>
      <CopyButton text={command} label="Copy command" />
    </span>
  );
}

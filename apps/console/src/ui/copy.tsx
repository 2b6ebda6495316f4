import { Clipboard } from 'lucide-react';
import { toast } from 'sonner';
import { Button } from './button.js';
import { shellWord, type ActionCommands } from './text/shell-line.js';

/** Puts a text on the clipboard; if the browser offers none for this origin, shows the text to copy by hand. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast.success('Copied');
  } catch {
    toast(text, {
      description: 'This browser blocks access to the clipboard. Copy the text from here.',
      duration: 60_000,
    });
  }
}

export function CopyButton({ text, label, children }: { text: string; label: string; children?: string }) {
  return (
    <Button
      kind="quiet"
      isSmall
      icon={<Clipboard aria-hidden className="size-3.5" />}
      aria-label={children ? undefined : label}
      title={label}
      onClick={() => void copyText(text)}
    >
      {children}
    </Button>
  );
}

/**
 * The buttons *Copy as curl* and *Copy as CLI* of an action. The token stays a variable,
 * because a copied text may be pasted anywhere.
 */
export function CopyAs({ action }: { action: ActionCommands }) {
  return (
    <span className="inline-flex gap-1">
      <CopyButton text={curlLine(action.curl)} label="Copy as curl">
        curl
      </CopyButton>
      <CopyButton text={action.cli} label="Copy as CLI">
        CLI
      </CopyButton>
    </span>
  );
}

export function curlLine({ method, path, body, headers = {} }: ActionCommands['curl']): string {
  const lines = [`curl -X ${method} "${location.origin}${path}"`, `-H "authorization: Bearer $SLIPWAY_TOKEN"`];
  for (const [name, value] of Object.entries(headers)) lines.push(`-H ${shellWord(`${name}: ${value}`)}`);
  if (body !== undefined) lines.push(`-H 'content-type: application/json'`, `-d ${shellWord(JSON.stringify(body))}`);
  return lines.join(' \\\n  ');
}

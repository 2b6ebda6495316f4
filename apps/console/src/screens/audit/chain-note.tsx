import { ShieldAlert, ShieldCheck, ShieldQuestion } from 'lucide-react';
import type { ReactNode } from 'react';
import type { AuditChainCheck } from '@slipway/sdk';
import { classes } from '../../ui/classes.js';
import { CopyButton } from '../../ui/copy.js';
import { shellLine } from '../../ui/text/shell-line.js';
import { faultText, intactText } from './chain-text.js';

interface ChainNoteProps {
  check: AuditChainCheck | undefined;
  /** Whether the browser can compute hashes: it cannot on an unencrypted origin other than this machine. */
  canCheck: boolean;
  isFiltered: boolean;
}

/** Shows what was verified here about the rows below, and what was not. */
export function ChainNote({ check, canCheck, isFiltered }: ChainNoteProps) {
  if (!canCheck)
    return (
      <Note tone="bg-warn-soft text-warn" icon={<ShieldQuestion aria-hidden className="size-5 shrink-0" />}>
        <p className="font-medium">This browser does not verify the rows.</p>
        <p>
          Browsers compute hashes only on pages loaded over HTTPS. To verify the rows, run{' '}
          <code>slipway audit verify</code>.
        </p>
      </Note>
    );
  if (!check) return null;
  const { counts, missing, head } = check;
  const wrong = counts.changed + counts.unfitting + missing.length;
  return (
    <Note
      tone={wrong > 0 ? 'bg-bad-soft text-bad' : 'bg-good-soft text-good'}
      icon={
        wrong > 0 ? (
          <ShieldAlert aria-hidden className="size-5 shrink-0" />
        ) : (
          <ShieldCheck aria-hidden className="size-5 shrink-0" />
        )
      }
    >
      <p className="font-medium">{wrong > 0 ? faultText(check) : intactText(check)}</p>
      <p>
        This browser checks that no loaded row was changed after it was sealed, and that each follows the previous row,
        if that is loaded{isFiltered && ' (with a filter, some are not)'}. It does not check rows that are not loaded,
        removed newest rows (use <code>slipway audit verify --expect-head</code>), or the seals, which require the
        workers' key (use <code>npm run audit-verify</code>).
      </p>
      {head && !isFiltered && wrong === 0 && (
        <p className="flex flex-wrap items-center gap-x-2">
          <span className="wrap-anywhere">
            Head: <code>{`${head.sequence}:${head.hash}`}</code>
          </span>
          <CopyButton
            text={shellLine('slipway', 'audit', 'verify', '--expect-head', `${head.sequence}:${head.hash}`)}
            label="Copy the command that verifies up to this head"
          >
            CLI
          </CopyButton>
        </p>
      )}
    </Note>
  );
}

function Note({ tone, icon, children }: { tone: string; icon: ReactNode; children: ReactNode }) {
  return (
    <div role="status" className={classes('mb-3 flex gap-2 rounded-md p-3 text-sm', tone)}>
      {icon}
      <div className="min-w-0 space-y-1">{children}</div>
    </div>
  );
}

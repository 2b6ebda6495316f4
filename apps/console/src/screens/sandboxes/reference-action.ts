import type { BodyOf } from '@slipway/sdk';
import type { ActionCommands } from '../../ui/copy.js';
import { pairsText } from '../../ui/text/listed-text.js';
import { shellLine } from '../../ui/text/shell-line.js';

/** A copied text may be pasted anywhere, so it never contains the credential. */
export function referenceAction({ credential, ...body }: BodyOf<'createSandboxReference'>): ActionCommands {
  const isSecret = credential !== undefined;
  return {
    curl: {
      method: 'POST',
      path: '/api/v1/sandboxes/references',
      body: { ...body, ...(isSecret && { credential: 'CREDENTIAL' }) },
    },
    cli: shellLine(
      ...['slipway', 'references', 'create', body.external_id ?? ''],
      ...['--provider', body.provider ?? '', '--base-url', body.base_url ?? ''],
      ...(body.labels ? ['--labels', pairsText(body.labels)] : []),
      ...(isSecret ? ['--credential-file', '-'] : []),
    ),
  };
}

export const revokeAction = (id: string): ActionCommands => ({
  curl: { method: 'DELETE', path: `/api/v1/sandboxes/references/${id}` },
  cli: shellLine('slipway', 'references', 'revoke', id, '--yes'),
});

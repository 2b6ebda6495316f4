import { request as creation } from 'request:createSandboxReference';
import { request as deletion } from 'request:deleteSandboxReference';
import { request as revocation } from 'request:revokeSandboxReference';
import { defineAction } from '../../actions/action.js';
import { slipway } from '../../api/client.js';
import type { SandboxReference } from '../../api/items.js';
import { CREATE_REFERENCE } from './layouts.js';

const { references } = slipway.sandboxes;

export const REGISTER = defineAction<'createSandboxReference'>()({
  request: creation,
  verb: 'Register',
  button: 'Register sandbox',
  title: () => 'New external sandbox',
  description:
    'Registering creates a sandbox whose files are sent to the external sandbox. It sends nothing yet and does not change the external sandbox.',
  layout: () => CREATE_REFERENCE,
  value: () => ({ provider: 'custom' }),
  cli: { words: 'references create', args: ['external_id'] },
  run: (_, body) => references.create(body),
  done: ({ external_id }) => `${external_id} registered`,
});

export const REFERENCE_ACTIONS = [
  defineAction<'revokeSandboxReference'>()<SandboxReference>({
    request: revocation,
    verb: 'Revoke',
    isFor: ({ state }) => state === 'active',
    isDangerous: true,
    title: ({ external_id }) => `Revoke the reference to ${external_id}?`,
    effect: () => (
      <p>
        Slipway erases its credential, stops transfers in progress and sends no more files.{' '}
        <strong>The external sandbox is not changed</strong>: it keeps its files, and its provider still accepts the
        credential. Files stored here stay readable.
      </p>
    ),
    cli: { words: 'references revoke', end: '--yes' },
    run: ({ id }) => references.revoke(id),
    done: ({ external_sandbox_changed }, { external_id }) =>
      external_sandbox_changed
        ? `${external_id} revoked`
        : `${external_id} revoked. The external sandbox was not changed.`,
  }),
  defineAction<'deleteSandboxReference'>()<SandboxReference>({
    request: deletion,
    verb: 'Delete',
    isFor: ({ state }) => state === 'revoked',
    isDangerous: true,
    title: ({ external_id }) => `Delete the record of ${external_id}?`,
    effect: () => <p>It no longer counts in the quota of references. Delete the sandboxes that have it first.</p>,
    cli: { words: 'references delete', end: '--yes' },
    run: ({ id }) => references.delete(id),
    done: (_, { external_id }) => `Record of ${external_id} deleted`,
  }),
];

import type { BodyOf } from '@slipway/sdk';
import type { ActionCommands } from '../../ui/copy.js';
import { shellLine } from '../../ui/text/shell-line.js';

const ROOT = '/api/v1/admin/model-api';

export type NewProduct = BodyOf<'createModelApiProduct'>;
export type NewBinding = BodyOf<'createTargetBinding'>;
export type NewPublication = BodyOf<'createModelApiPublication'>;

export function productAction(body: NewProduct): ActionCommands {
  const flags = flagsOf({
    '--display-name': body.display_name,
    '--description': body.description,
    '--modalities': body.modalities?.join(','),
    '--context-length': body.context_length,
    '--max-output-tokens': body.max_output_tokens,
    '--supported-parameters': body.supported_parameters?.join(','),
    '--pricing': body.pricing && JSON.stringify(body.pricing),
  });
  return action('products', body, shellLine('slipway', 'products', 'create', body.slug ?? '', ...flags));
}

/** A copied text may be pasted anywhere, so it never contains the credential. */
export function bindingAction(body: NewBinding): ActionCommands {
  const { target = {}, limits } = body;
  const { credential, ...rest } = target;
  const flags = flagsOf({
    '--deployment': target.deployment,
    '--revision': target.revision,
    '--supplier': target.supplier,
    '--base-url': target.base_url,
    '--model': target.model,
    '--credential-file': credential === undefined ? undefined : '-',
    '--limits': limits && JSON.stringify(limits),
  });
  const shown = { ...body, target: { ...rest, ...(credential !== undefined && { credential: 'CREDENTIAL' }) } };
  return action('target-bindings', shown, shellLine('slipway', 'bindings', 'create', body.product_id, ...flags));
}

export function publicationAction(body: NewPublication): ActionCommands {
  const flags = flagsOf({
    '--bindings': JSON.stringify(body.bindings),
    '--audience': body.audience && JSON.stringify(body.audience),
    '--notes': body.notes,
  });
  return action('publications', body, shellLine('slipway', 'publications', 'create', body.product_id, ...flags));
}

export const qualifyAction = (id: string): ActionCommands => ({
  curl: { method: 'POST', path: `${ROOT}/target-bindings/${id}/qualify` },
  cli: shellLine('slipway', 'bindings', 'qualify', id, '--wait'),
});

export const withdrawAction = (id: string): ActionCommands => ({
  curl: { method: 'POST', path: `${ROOT}/publications/${id}/withdraw` },
  cli: shellLine('slipway', 'publications', 'withdraw', id, '--yes'),
});

const action = (resource: string, body: unknown, cli: string): ActionCommands => ({
  curl: { method: 'POST', path: `${ROOT}/${resource}`, body },
  cli,
});

const flagsOf = (flags: Record<string, string | number | null | undefined>): string[] =>
  Object.entries(flags).flatMap(([flag, value]) => ((value ?? undefined) === undefined ? [] : [flag, String(value)]));

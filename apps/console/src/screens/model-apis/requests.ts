import type { BodyOf } from '@slipway/sdk';
import type { CopiedAction } from '../../ui/copy.js';
import { wordsOf } from '../../ui/listed-text.js';
import { shellLine } from '../../ui/shell-line.js';

const ROOT = '/api/v1/admin/model-api';

export type NewProduct = BodyOf<'createModelApiProduct'>;
export type NewBinding = BodyOf<'createTargetBinding'>;
export type NewPublication = BodyOf<'createModelApiPublication'>;

/** The fields of a form, as texts. */
export interface ProductFields {
  slug: string;
  display_name: string;
  description: string;
  modalities: string;
  context_length: string;
  max_output_tokens: string;
  supported_parameters: string;
  currency: string;
  input_per_mtok: string;
  output_per_mtok: string;
}

/** What is empty is left out; what is no number goes as it was typed, so that the api says what is wrong with it. */
export function productBody(fields: ProductFields): NewProduct {
  const { currency, input_per_mtok, output_per_mtok } = fields;
  const lists = { modalities: wordsOf(fields.modalities), supported_parameters: wordsOf(fields.supported_parameters) };
  return {
    slug: fields.slug.trim(),
    ...filled('display_name', fields.display_name),
    ...filled('description', fields.description),
    ...(lists.modalities.length > 0 && { modalities: lists.modalities as NonNullable<NewProduct['modalities']> }),
    ...numbered('context_length', fields.context_length),
    ...numbered('max_output_tokens', fields.max_output_tokens),
    ...(lists.supported_parameters.length > 0 && { supported_parameters: lists.supported_parameters }),
    ...(currency.trim() !== '' && {
      pricing: {
        currency: currency.trim().toUpperCase(),
        input_per_mtok: numberOf(input_per_mtok),
        output_per_mtok: numberOf(output_per_mtok),
      },
    }),
  };
}

export function productAction(body: NewProduct): CopiedAction {
  const flags = flagsOf({
    '--display-name': body.display_name,
    '--description': body.description,
    '--modalities': body.modalities?.join(','),
    '--context-length': body.context_length,
    '--max-output-tokens': body.max_output_tokens,
    '--supported-parameters': body.supported_parameters?.join(','),
    '--pricing': body.pricing && JSON.stringify(body.pricing),
  });
  return action('products', body, shellLine('slipway', 'products', 'create', body.slug, ...flags));
}

export interface BindingFields {
  kind: 'revision' | 'supplier';
  deployment: string;
  revision: string;
  supplier: string;
  base_url: string;
  model: string;
  credential: string;
  max_rps: string;
  max_concurrency: string;
}

export function bindingBody(product_id: string, fields: BindingFields): NewBinding {
  const { kind, deployment, revision, supplier, base_url, model, credential } = fields;
  const limits = { ...numbered('max_rps', fields.max_rps), ...numbered('max_concurrency', fields.max_concurrency) };
  return {
    product_id,
    target:
      kind === 'revision'
        ? { deployment, revision }
        : {
            supplier: supplier.trim(),
            base_url: base_url.trim(),
            model: model.trim(),
            ...filled('credential', credential),
          },
    ...(Object.keys(limits).length > 0 && { limits }),
  };
}

/** What is copied is pasted anywhere: the credential is never in it. */
export function bindingAction(body: NewBinding): CopiedAction {
  const { target, limits } = body;
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

export function publicationAction(body: NewPublication): CopiedAction {
  const flags = flagsOf({
    '--bindings': JSON.stringify(body.bindings),
    '--audience': body.audience && JSON.stringify(body.audience),
    '--notes': body.notes,
  });
  return action('publications', body, shellLine('slipway', 'publications', 'create', body.product_id, ...flags));
}

export const qualifyAction = (id: string): CopiedAction => ({
  curl: { method: 'POST', path: `${ROOT}/target-bindings/${id}/qualify` },
  cli: shellLine('slipway', 'bindings', 'qualify', id, '--wait'),
});

export const withdrawAction = (id: string): CopiedAction => ({
  curl: { method: 'POST', path: `${ROOT}/publications/${id}/withdraw` },
  cli: shellLine('slipway', 'publications', 'withdraw', id, '--yes'),
});

const action = (resource: string, body: unknown, cli: string): CopiedAction => ({
  curl: { method: 'POST', path: `${ROOT}/${resource}`, body },
  cli,
});

const flagsOf = (flags: Record<string, string | number | undefined>): string[] =>
  Object.entries(flags).flatMap(([flag, value]) => (value === undefined ? [] : [flag, String(value)]));

function filled<Name extends string>(name: Name, text: string): { [Key in Name]?: string } {
  return (text.trim() === '' ? {} : { [name]: text.trim() }) as { [Key in Name]?: string };
}

function numbered<Name extends string>(name: Name, text: string): { [Key in Name]?: number } {
  return (text.trim() === '' ? {} : { [name]: numberOf(text) }) as { [Key in Name]?: number };
}

/** The api refuses a text where a number belongs, and names the field; an empty price is none. */
const numberOf = (text: string): number => {
  const number = Number(text);
  return (Number.isNaN(number) ? text : number) as number;
};

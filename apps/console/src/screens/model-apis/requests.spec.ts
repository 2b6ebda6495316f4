import { describe, expect, it } from '@jest/globals';
import { bindingAction, bindingBody, productAction, productBody, publicationAction } from './requests.js';

const product = {
  slug: ' acme/chat ',
  display_name: '',
  description: '',
  modalities: '',
  context_length: '',
  max_output_tokens: '',
  supported_parameters: '',
  currency: '',
  input_per_mtok: '',
  output_per_mtok: '',
};

const binding = {
  kind: 'supplier' as const,
  deployment: 'chat',
  revision: 'chat-00001',
  supplier: 'Someone',
  base_url: 'https://models.example.com/v1 ',
  model: 'large',
  credential: 'very-secret',
  max_rps: '',
  max_concurrency: '4',
};

describe('a new product', () => {
  it('has what was filled in', () => {
    expect(productBody(product)).toEqual({ slug: 'acme/chat' });
    expect(
      productBody({
        ...product,
        display_name: 'Chat',
        modalities: 'text, image',
        context_length: '8192',
        supported_parameters: 'temperature tools',
        currency: 'usd',
        input_per_mtok: '0.5',
        output_per_mtok: '2',
      }),
    ).toEqual({
      slug: 'acme/chat',
      display_name: 'Chat',
      modalities: ['text', 'image'],
      context_length: 8192,
      supported_parameters: ['temperature', 'tools'],
      pricing: { currency: 'USD', input_per_mtok: 0.5, output_per_mtok: 2 },
    });
  });

  it('leaves it to the api to refuse what is no number', () => {
    expect(productBody({ ...product, context_length: 'many' })).toMatchObject({ context_length: 'many' });
  });

  it('is a line for the shell', () => {
    const { cli } = productAction(productBody({ ...product, display_name: "Ann's $(chat)" }));
    expect(cli).toBe(`slipway products create acme/chat --display-name 'Ann'\\''s $(chat)'`);
  });
});

describe('a new binding', () => {
  it('names a revision or a server, never both', () => {
    expect(bindingBody('prd_1', { ...binding, kind: 'revision' }).target).toEqual({
      deployment: 'chat',
      revision: 'chat-00001',
    });
    expect(bindingBody('prd_1', binding)).toEqual({
      product_id: 'prd_1',
      target: {
        supplier: 'Someone',
        base_url: 'https://models.example.com/v1',
        model: 'large',
        credential: 'very-secret',
      },
      limits: { max_concurrency: 4 },
    });
  });

  it('is copied without its credential', () => {
    const copied = bindingAction(bindingBody('prd_1', binding));
    expect(JSON.stringify(copied)).not.toContain('very-secret');
    expect(copied.cli).toContain('--credential-file -');
  });
});

describe('a new publication', () => {
  it('is copied whole', () => {
    const body = { product_id: 'prd_1', bindings: [{ binding_id: 'bnd_1', weight: 2, priority: 0 }] };
    expect(publicationAction(body)).toEqual({
      curl: { method: 'POST', path: '/api/v1/admin/model-api/publications', body },
      cli: `slipway publications create prd_1 --bindings '[{"binding_id":"bnd_1","weight":2,"priority":0}]'`,
    });
  });
});

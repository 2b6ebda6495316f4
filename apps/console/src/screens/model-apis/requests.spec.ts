import { describe, expect, it } from '@jest/globals';
import { bindingAction, productAction, publicationAction } from './requests.js';

const target = { supplier: 'Someone', base_url: 'https://models.example.com/v1', model: 'large' };

describe('a new product', () => {
  it('is a line for the shell', () => {
    const { cli } = productAction({ slug: 'acme/chat', display_name: "Ann's $(chat)" });
    expect(cli).toBe(`slipway products create acme/chat --display-name 'Ann'\\''s $(chat)'`);
  });
});

describe('a new binding', () => {
  it('is copied without its credential', () => {
    const copied = bindingAction({ product_id: 'prd_1', target: { ...target, credential: 'very-secret' } });
    expect(JSON.stringify(copied)).not.toContain('very-secret');
    expect(copied.cli).toContain('--credential-file -');
  });
});

describe('a new publication', () => {
  it('is copied completely', () => {
    const body = { product_id: 'prd_1', bindings: [{ binding_id: 'bnd_1', weight: 2, priority: 0 }] };
    expect(publicationAction(body)).toEqual({
      curl: { method: 'POST', path: '/api/v1/admin/model-api/publications', body },
      cli: `slipway publications create prd_1 --bindings '[{"binding_id":"bnd_1","weight":2,"priority":0}]'`,
    });
  });
});

import { expect, it } from '@jest/globals';
import type { PublishedProduct } from '@slipway/ports/model-api-administration';
import { catalogEntry } from './catalog.service.js';

it('a catalog entry names every field itself: any other column of a row stays hidden', () => {
  const secret = { supplier: 'zz-sentinel', base_url: 'http://zz-sentinel', credential: 'zz-sentinel' };
  const product = {
    ...secret,
    id: 'prd_1',
    slug: 'acme/chat',
    displayName: 'Chat',
    description: null,
    contextLength: 10,
    maxOutputTokens: null,
    supportedParameters: ['tools'],
    pricing: { ...secret, currency: 'USD', input_per_mtok: 1, output_per_mtok: 2 },
    createdAt: new Date(5_999),
    sharesPrefixCache: true,
    bindings: [{ ...secret, id: 'bnd', weight: 1, priority: 0, revisionId: null }],
  } as PublishedProduct;
  const measured = {
    ...secret,
    availability: 'available' as const,
    performance: { ...secret, ttft_ms: { ...secret, p50: 1, p95: 2 }, output_tokens_per_s: 3 },
  };
  const entry = catalogEntry(product, measured, 'http://gateway/');
  expect(entry).toEqual({
    id: 'prd_1',
    object: 'model',
    slug: 'acme/chat',
    name: 'Chat',
    description: null,
    created: 5,
    context_length: 10,
    max_output_tokens: null,
    supported_parameters: ['tools'],
    pricing: { currency: 'USD', input_per_mtok: 1, output_per_mtok: 2 },
    performance: { ttft_ms: { p50: 1, p95: 2 }, output_tokens_per_s: 3 },
    availability: 'available',
    shares_prefix_cache: true,
    endpoint: { base_url: 'http://gateway/v1', model: 'acme/chat' },
  });
  expect(JSON.stringify(entry)).not.toContain('zz-sentinel');
});

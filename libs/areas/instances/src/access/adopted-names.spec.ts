import { beforeEach, expect, it, jest } from '@jest/globals';
import { MOST_ENDPOINT_URLS, type RevisionSpec } from '@slipway/contracts';
import type { Target, TargetCatalog } from '../catalog/target-catalog.js';
import { AdoptedNames } from './adopted-names.js';

/** URLs that the driver was asked about, and its answer. */
let asked: string[];
let messageOf: (url: string) => string | undefined;
let names: AdoptedNames;
let adopted: Target;

beforeEach(() => {
  [asked, messageOf] = [[], (url) => (url.includes('loopback') ? 'resolves to loopback' : undefined)];
  const checkName = async (url: string) => (asked.push(url), messageOf(url));
  adopted = { config: { name: 'adopted' }, driver: { checkName } } as unknown as Target;
  const local = { config: { name: 'local' }, driver: {} } as unknown as Target;
  names = new AdoptedNames({ of: () => [local, adopted] } as unknown as TargetCatalog);
});

const specOf = (...urls: string[]) => ({ endpoint: { base_url: urls[0], base_urls: urls.slice(1) } }) as RevisionSpec;
const fieldsOf = (spec: RevisionSpec, tenant = 'acme') => names.issues(adopted, tenant, spec).map(({ field }) => field);

it('reports each server whose name led to a refused address, for the tenant that named it', async () => {
  const [fine, bad] = ['http://a.example.com', 'http://loopback.example.com'];
  await names.resolve('acme', { endpoint: { base_urls: [fine, bad] } });
  const spec = { endpoint: { base_urls: [fine, bad] } } as unknown as RevisionSpec;
  expect(fieldsOf(spec)).toEqual(['endpoint.base_urls[1]']);
  expect(names.issues(adopted, 'acme', spec)[0]).toMatchObject({
    code: 'not_allowed',
    message: 'resolves to loopback',
  });
  expect(fieldsOf(spec, 'other')).toEqual([]);
});

it('forgets a refusal after a while, and when the name leads elsewhere', async () => {
  const spec = specOf('http://loopback.example.com');
  await names.resolve('acme', spec);
  expect(fieldsOf(spec)).toEqual(['endpoint.base_url']);
  const later = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 10_001);
  expect(fieldsOf(spec)).toEqual([]);
  later.mockRestore();
  messageOf = () => undefined;
  await names.resolve('acme', spec);
  expect(fieldsOf(spec)).toEqual([]);
});

it.each([
  undefined,
  null,
  7,
  'text',
  [],
  { endpoint: null },
  { endpoint: 'http://a.example.com' },
  { endpoint: { base_url: 7, base_urls: 'http://a.example.com' } },
  { endpoint: { base_url: '', base_urls: [null, {}, 'no url'] } },
])('accepts a patch that is not valid yet: %j', async (patch) => {
  await names.resolve('acme', patch);
  expect(asked).toEqual([]);
});

it('resolves as many names as a valid spec may have, and no more', async () => {
  const base_urls = Array.from({ length: 100 }, (_, n) => `http://${n}.example.com`);
  await names.resolve('acme', { endpoint: { base_urls } });
  expect(asked).toHaveLength(MOST_ENDPOINT_URLS);
});

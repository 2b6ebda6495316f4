import { describe, expect, it } from '@jest/globals';
import type { Binding, Product, Publication } from '../../api/items.js';
import { flowOf, servedText } from './flow.js';

const product = { id: 'prd_1', slug: 'acme/chat', state: 'draft' } as Product;
const binding = (id: string, state: string, more: Partial<Binding> = {}) =>
  ({
    id,
    product_id: 'prd_1',
    state,
    drifted: false,
    target: { deployment: 'chat', revision: 'r1' },
    ...more,
  }) as Binding;
const publication = (version: number, state: string, ...ids: string[]) =>
  ({
    id: `pub_${version}`,
    product_id: 'prd_1',
    version,
    state,
    bindings: ids.map((binding_id) => ({ binding_id, weight: 1, priority: 0 })),
  }) as Publication;

const wordsOf = (bindings: Binding[], publications: Publication[] = []) =>
  flowOf(product, bindings, publications).stages.map(({ word }) => word);

describe('the stages of a product', () => {
  it('begin with a binding', () => {
    expect(wordsOf([])).toEqual(['draft', 'none', '0 of 0 qualified', 'not published']);
    expect(flowOf(product, [], []).next).toMatch(/^Create a binding/);
  });

  it('continue with a qualification, then with a publication', () => {
    expect(flowOf(product, [binding('bnd_1', 'unqualified')], []).next).toMatch(/^Qualify/);
    expect(flowOf(product, [binding('bnd_1', 'qualified')], []).next).toMatch(/^Publish/);
  });

  it('are complete when it is published', () => {
    const flow = flowOf(product, [binding('bnd_1', 'qualified')], [publication(2, 'published', 'bnd_1')]);
    expect(flow.next).toBeUndefined();
    expect(flow.current?.version).toBe(2);
    expect(flow.stages[3]).toMatchObject({ word: 'version 2 published', tone: 'good' });
  });

  it.each([
    ['was suspended', binding('bnd_1', 'suspended'), /did not pass/],
    ['has drifted', binding('bnd_1', 'qualified', { drifted: true }), /another model/],
  ])('request a new qualification if a published binding %s', (_, weak, says) => {
    const flow = flowOf(product, [weak, binding('bnd_2', 'qualified')], [publication(1, 'published', 'bnd_1')]);
    expect(flow.next).toMatch(says);
    expect(flow.stages[3]!.tone).toBe('warn');
  });

  it('do not judge bindings that are not published', () => {
    const bindings = [binding('bnd_1', 'qualified'), binding('bnd_2', 'suspended')];
    expect(flowOf(product, bindings, [publication(1, 'published', 'bnd_1')]).next).toBeUndefined();
  });

  it('show that it was withdrawn', () => {
    expect(wordsOf([binding('bnd_1', 'qualified')], [publication(1, 'withdrawn', 'bnd_1')])[3]).toBe('withdrawn');
  });

  it('include only its own bindings and publications', () => {
    const other = { ...binding('bnd_9', 'qualified'), product_id: 'prd_2' } as Binding;
    const flow = flowOf(product, [other], [{ ...publication(1, 'published', 'bnd_9'), product_id: 'prd_2' }]);
    expect(flow.bindings).toEqual([]);
    expect(flow.current).toBeUndefined();
  });

  it.each([
    ['available', /^Clients are served/],
    ['degraded', /Check the instances/],
    ['unavailable', /Check the instances/],
    [undefined, /^The product is published\.$/],
  ])('describe the service of a product that is %s', (availability, says) =>
    expect(servedText(availability)).toMatch(says),
  );
});

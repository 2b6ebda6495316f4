import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { routesIn, routeTable, withRouteTable } from '../route-table.mjs';

const root = path.resolve(import.meta.dirname, '../../..');
const textOf = (file: string) => readFileSync(path.join(root, file), 'utf8');

it('finds the tag, method and path of every operation in the OpenAPI document', () => {
  const { paths } = JSON.parse(textOf('libs/sdk/openapi.json')) as {
    paths: Record<string, Record<string, { tags?: string[] }>>;
  };
  const published = Object.entries(paths).flatMap(([route, operations]) =>
    Object.entries(operations)
      .filter(([, { tags }]) => tags)
      .map(([method, { tags }]) => `${tags?.join()} ${method.toUpperCase()} ${route}`),
  );
  const found = routesIn(root).map(
    ({ tag, method, path: route }) => `${tag} ${method} /api/v1${route.replace(/:(\w+)/g, '{$1}')}`,
  );
  expect(published.length).toBeGreaterThan(0);
  expect(found.sort()).toEqual(published.sort());
});

it('the table in docs/architecture.md matches the code', () => {
  const page = textOf('docs/architecture.md');
  expect(page).toBe(withRouteTable(page, routeTable(root)));
});

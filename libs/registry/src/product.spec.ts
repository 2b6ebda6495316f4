import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import * as areas from './areas.js';
import { AREAS, MIGRATIONS } from './product.js';

it('every area has one module', () => {
  expect(AREAS).toHaveLength(Object.keys(areas).length);
  for (const module of AREAS) expect(module.name).toMatch(/Module$/);
});

it('every migration has a timestamp of its own', () => {
  const timestamps = MIGRATIONS.map((migration) => migration.name.slice(-13));
  expect(new Set(timestamps).size).toBe(timestamps.length);
});

it('the list names every area that has a module', () => {
  const root = new URL('../../areas/', import.meta.url);
  const written = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => /^[^/]+\/src\/([a-z-]+\/)?index\.ts$/.test(file))
    .filter((file) => /export \{[^}]*\w+Module\b/.test(readFileSync(new URL(file, root), 'utf8')))
    .map((file) => file.replace('/src/', '/').replace(/\/(index\.ts)?$|\/?index\.ts$/, ''));
  const listed = [
    ...readFileSync(new URL('areas.ts', import.meta.url), 'utf8').matchAll(/@slipway\/area-([a-z/-]+)/g),
  ].map(([, name]) => name);
  expect(listed.sort()).toEqual(written.sort());
});

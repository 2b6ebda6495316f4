import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { CHART, copiedFiles } from './chart.js';

it('the files that the chart copies are those of their sources, and there are no others', () => {
  const copies = copiedFiles();
  for (const { source, copy } of copies)
    expect([copy, readFileSync(copy, 'utf8')]).toEqual([copy, readFileSync(source, 'utf8')]);
  const files = path.join(CHART, 'files');
  const present = readdirSync(files, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(present.map(({ parentPath, name }) => path.join(parentPath, name)).sort()).toEqual(
    copies.map(({ copy }) => copy).sort(),
  );
});

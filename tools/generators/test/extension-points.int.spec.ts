import { readdirSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { WorkspaceCopy } from '@slipway/platform-testing/workspace-copy';

jest.setTimeout(300_000);

const NX = 'nx/dist/bin/nx.js';
const CONTRIBUTING = readFileSync(new URL('../../../CONTRIBUTING.md', import.meta.url), 'utf8');
let workspace: WorkspaceCopy;

beforeAll(async () => {
  workspace = await WorkspaceCopy.make();
});
afterAll(() => workspace?.remove());

/** A chapter of CONTRIBUTING.md. */
function chapter(title: string): string {
  const text = CONTRIBUTING.split(/^## /m).find((part) => part.startsWith(`${title}\n`));
  if (!text) throw new Error(`CONTRIBUTING.md has no chapter ${title}`);
  return text;
}

/**
 * Does what a chapter says: inserts each block of code at the top of the object, in the file, that the previous
 * sentence names.
 */
async function follow(title: string): Promise<string[]> {
  const steps = chapter(title).matchAll(/in `([^`]+\.ts)`,\s+in `(\w+)`:\n\n```ts\n(.*?)```/gs);
  const files: string[] = [];
  for (const [, file, name, code] of steps) {
    const at = path.join(workspace.dir, file!);
    const text = await readFile(at, 'utf8');
    // The object begins after its type, if it has one.
    const begins = new RegExp(`export const ${name}\\b[^=]*?(?:=>[^=]*?)*= \\{\\n`).exec(text)!;
    const end = begins.index + begins[0].length;
    await writeFile(at, text.slice(0, end) + code + text.slice(end));
    files.push(file!);
  }
  return files;
}

/** Runs a module in the copy, as Node loads built code. */
async function evaluate(code: string): Promise<any> {
  const file = path.join(workspace.dir, 'libs/registry/dist/tried.mjs');
  await writeFile(file, code);
  return JSON.parse(await workspace.run('../libs/registry/dist/tried.mjs'));
}

it('a gate metric consists of the two files that CONTRIBUTING.md names', async () => {
  expect(await follow('A new gate metric')).toEqual([
    'libs/contracts/src/metrics.ts',
    'libs/gateway/src/telemetry/measurement.ts',
  ]);
  await workspace.run('typescript/bin/tsc', '-b', 'libs/gateway/tsconfig.lib.json', 'libs/registry/tsconfig.lib.json');
  const stream = {
    class: 'ok',
    isRetried: false,
    isStream: true,
    ttftMs: 100,
    e2eMs: 350,
    metering: { tokensIn: 1, tokensOut: 9, gaps: [] },
    load: { mean: 1, untilFirstToken: 1, aloneMs: null, isJoined: false, instances: 1 },
  };
  const { refused, measured, text } = await evaluate(`
    import 'reflect-metadata';
    import { METRICS } from '@slipway/contracts';
    import { readMetric } from '@slipway/dataplane';
    import { newFindings, readObject } from '@slipway/platform-http';
    import { AnalysisMetricDto } from '../../ports/dist/rollout-strategy.dto.js';
    import { Recorder } from '../../gateway/dist/telemetry/recorder.js';
    const findings = newFindings();
    readObject(AnalysisMetricDto, { name: 'decode_ms', check: 'threshold', threshold: 200 }, '', findings);
    const recorder = new Recorder('gw', 0);
    recorder.add('rev', 'ten', ${JSON.stringify(stream)}, 500);
    const [{ ok, ...window }] = recorder.take(2000).windows;
    const measured = readMetric('decode_ms', 'avg', { ...window, counts: { ok } });
    console.log(JSON.stringify({ refused: findings, measured, text: METRICS.decode_ms.prometheus }));
  `);
  expect(refused).toEqual({ mistyped: [], broken: [], unknown: [] });
  expect(measured).toEqual({ value: 250, samples: 1 });
  expect(text).toBe('slipway_gateway_decode_milliseconds');
});

it('a kind of execution target is one folder and one line', async () => {
  const filesOf = (folder: string) => readdirSync(path.join(workspace.dir, folder)).sort();
  const before = filesOf('libs/targets');
  await workspace.run(NX, 'g', 'target', 'throw-away');
  expect(filesOf('libs/targets')).toEqual([...before, 'throw-away'].sort());
  await workspace.run('typescript/bin/tsc', '-b', 'libs/registry/tsconfig.lib.json');
  const output = await workspace.run('jest/bin/jest.js', '-c', 'libs/targets/throw-away/jest.config.mjs');
  expect(output).toMatch(/Tests: +(\d+) passed, \1 total/);
  await workspace.run('eslint/bin/eslint.js', 'libs/targets/throw-away', 'libs/registry');
  const kinds = await evaluate(`
    import { TARGETS } from '@slipway/registry/targets';
    console.log(JSON.stringify(TARGETS.map(({ kind }) => kind)));
  `);
  expect(kinds).toContain('throw-away');
});

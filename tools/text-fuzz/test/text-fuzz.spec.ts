import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { randomFrom } from '@slipway/inference-sim/random';
import { attacksFrom, attacksOn, isUnbounded, randomAttack, textOf } from '../attacks.mjs';
import { DYNAMIC, filesThatBuildExpressions, literalsIn } from '../expressions.mjs';
import { TARGETS } from '../targets.mjs';

const MOST_MS = 10;

/** The processor time of a search; the less of two, because the machine may be busy. */
function costOf(pattern: RegExp, text: string): number {
  const costs = [1, 2].map(() => {
    const before = process.cpuUsage();
    text.replace(pattern, '');
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...costs);
}

const isBroken = (source: string, size = 20_000) =>
  attacksOn(source, '').some((attack) => costOf(new RegExp(source), textOf(attack, size)) > MOST_MS);

describe('attacks on an expression', () => {
  it.each([
    ['--?[a-z-]*(?:api-key|secret)'],
    ['\\/+$'],
    ['^\\s*(?:100-continue)?\\s*$'],
    ['\\b[a-z][a-z0-9+.-]*:\\/\\/'],
    ['<title[^>]*>'],
    ['no such file.*\\.gguf'],
    ['(?:\\x1b\\]|[\\x90\\x9d])[^\\x1b\\x9c]*\\x9c'],
  ])('find a text that /%s/ reads in more than linear time', (source) => {
    expect(isBroken(source)).toBe(true);
  });

  it('find a text of 26 characters that takes an exponential expression long', () => {
    expect(isBroken('^(?:a+)+$', 26)).toBe(true);
  });

  it.each([
    ['(?<!\\/)\\/+$'],
    ['^(?:100-continue)?$'],
    [':\\/\\/[^\\s/:@]*:[^\\s/]*(?=@)'],
    ['<[^<>]*>'],
    ['^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$'],
  ])('find none for /%s/, which is linear', (source) => {
    expect(isBroken(source)).toBe(false);
  });

  it('have the wanted length, and repeat with the seed', () => {
    const attack = { prefix: 'a', unit: 'bc', suffix: 'd' };
    expect(textOf(attack, 8)).toBe('abcbcbcd');
    expect(attacksFrom(['x', 'y'])).toContainEqual({ prefix: 'x', unit: 'y', suffix: '\u0001' });
    const [one, other] = [randomFrom(7), randomFrom(7)];
    expect(randomAttack(['x', 'y'], one)).toEqual(randomAttack(['x', 'y'], other));
  });
});

describe('the expressions of the product', () => {
  it('are found in the source and in JSON Schemas, with their flags and lines', () => {
    const text = "const A = 1 / 2;\nconst B = /a\\/b+/gi;\nconst C = { pattern: '^c+$', d: '/e+/' };\n";
    expect(literalsIn('x.ts', text)).toEqual([
      { name: 'x.ts:2 /a\\/b+/gi', file: 'x.ts', source: 'a\\/b+', flags: 'gi' },
      { name: 'x.ts:3 /^c+$/u', file: 'x.ts', source: '^c+$', flags: 'u' },
    ]);
  });

  it('can all be attacked in a file as difficult as the redaction of logs', () => {
    const file = 'libs/targets/driver/src/redaction.ts';
    const found = literalsIn(file, readFileSync(path.join(import.meta.dirname, '../../..', file), 'utf8'));
    const unbounded = found.filter(({ source, flags }) => isUnbounded(source, flags));
    expect(unbounded.length).toBeGreaterThan(5);
    expect(unbounded.filter(({ source, flags }) => attacksOn(source, flags).length < 10)).toEqual([]);
  });

  it('that are built at run time are all listed, with what they are built from', () => {
    expect([...new Set(DYNAMIC.map(({ file }) => file))].sort()).toEqual(filesThatBuildExpressions().sort());
  });
});

it.each(TARGETS)('reads or refuses a text of its atoms: $name', async ({ atoms, run, open, refuses }) => {
  const text = atoms.join('');
  try {
    await run?.(text);
    const stream = open?.();
    stream?.push(Buffer.from(text));
    await stream?.end?.();
  } catch (error) {
    if (!refuses?.(error)) throw error;
  }
});

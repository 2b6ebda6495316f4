import { describe, expect, it } from '@jest/globals';
import { attacksFrom, attacksOn, isUnbounded, randomAttack, randomFrom, textOf } from '../attacks.mjs';
import { DYNAMIC, filesThatBuildExpressions, literalsIn, productExpressions } from '../expressions.mjs';

/** Whether an attack makes the expression at least 8 times as slow as another text of the same length. */
const isBroken = (source: string, flags = '') => {
  const pattern = new RegExp(source, flags);
  const timeOf = (text: string) => {
    const before = process.cpuUsage();
    text.replace(pattern, '');
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  return attacksOn(source, flags).some((attack) => timeOf(textOf(attack, 200)) > 20_000 || timeOf(textOf(attack, 6_000)) > 20_000);
};

describe('attacks on an expression', () => {
  it.each([
    ['--?[a-z-]*(?:api-key|secret)'],
    ['\\/+$'],
    ['^\\s*(?:100-continue)?\\s*$'],
    ['\\b[a-z][a-z0-9+.-]*:\\/\\/'],
    ['<title[^>]*>'],
    ['no such file.*\\.gguf'],
    ['^(?:a+)+$'],
    ['(?:\\x1b\\]|[\\x90\\x9d])[^\\x1b\\x9c]*\\x9c'],
  ])('find a text that /%s/ reads in more than linear time', (source) => {
    expect(isBroken(source)).toBe(true);
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

  it('include those of the redaction of logs, and all of them can be attacked', () => {
    const all = productExpressions();
    expect(all.filter(({ file }) => file === 'libs/targets/driver/src/redaction.ts').length).toBeGreaterThan(5);
    const attackable = all.filter(({ source, flags }) => isUnbounded(source, flags));
    expect(attackable.filter(({ source, flags }) => attacksOn(source, flags).length === 0)).toEqual([]);
  });

  it('that are built at run time are all listed, with what they are built from', () => {
    expect([...new Set(DYNAMIC.map(({ file }) => file))].sort()).toEqual(filesThatBuildExpressions().sort());
  });
});

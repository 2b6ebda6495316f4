import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { HARMLESS, LIBRARIES, NOT_CONNECTING, OUTBOUND } from '../outbound-calls.mjs';
import { PLAIN } from '../plain-requests.mjs';

type Finding = { ruleId: string | null; message: string };

const rules = readdirSync(new URL('../rules', import.meta.url)).map((name) => name.replace('.mjs', ''));
const found: Record<string, Finding[]> = JSON.parse(
  execFileSync(process.execPath, [new URL('lint-fixtures.mjs', import.meta.url).pathname], {
    encoding: 'utf8',
    env: { ...process.env, NX_DAEMON: 'false', NODE_OPTIONS: '' },
    maxBuffer: 16 << 20,
  }),
);
const fixtures = Object.keys(found);

/** The text that each message must contain, so that its reader knows what to do instead. */
const REPLACEMENTS: Record<string, RegExp> = {
  'area-order': /move the shared declaration/,
  'children-get-an-environment': /`systemEnvironment` of/,
  'free-of-nest': /Import a subpath/,
  'file-names': /Name the file after|kebab-case|\.controller \.service/,
  'file-size': /Split by meaning/,
  'guarded-calls': /@slipway\/platform-egress|Delete its entry/,
  'migration-breaks': /`static readonly breaksBefore`/,
  'no-focused-tests': /-t "<name>"/,
  'no-lazy-lookup': /@slipway\/ports\/<area>/,
  'one-client': /Use @slipway\/sdk|Delete its entry/,
  'one-clock': /step\.elapsedMs|`performance\.now\(\)` for durations/,
  'only-config-reads-env': /inject `CONFIG`/,
  'only-database-injects-data-source': /Inject `Database`/,
  'only-the-relay-enqueues': /OperationStore/,
  'own-tables-only': /Ask its owner/,
  'ports-point-down':
    /@Subscription|Offer a port of your own|Put the type into|Export the name there|Move the file into/,
  'no-restricted-imports': /Only specs and `test` folders may/,
  'no-restricted-syntax':
    /Remove `@Inject`|Use `insert`, `update` or `delete`|Use `= any\(array|`timeLimit`, `withinTime` or `joinSignals`/,
  'statement-reason': /Explain in a comment above/,
  'enforce-module-boundaries':
    /Circular dependency|cannot depend on any libs|can only depend on libs tagged with|cannot be imported by a relative|relative or absolute path/,
};

describe.each(fixtures.filter((name) => name.endsWith('.fail.txt')))('%s', (name) => {
  const rule = Object.keys(REPLACEMENTS).find((known) => name.startsWith(known))!;
  const complaints = found[name].filter(({ ruleId }) => ruleId === rule || ruleId?.endsWith(`/${rule}`));

  it('is refused with a message that names the replacement', () => {
    expect(complaints.length).toBeGreaterThan(0);
    for (const { message } of complaints) expect(message).toMatch(REPLACEMENTS[rule]);
  });
});

describe.each(fixtures.filter((name) => name.endsWith('.pass.txt')))('%s', (name) => {
  it('is accepted', () => {
    expect(found[name]).toEqual([]);
  });
});

it('finds every way to read the environment', () => {
  expect(
    found['only-config-reads-env.fail.txt'].filter(({ ruleId }) => ruleId === 'slipway/only-config-reads-env'),
  ).toHaveLength(3);
});

it('finds every way to start a program without an environment', () => {
  expect(
    found['children-get-an-environment.fail.txt'].filter(({ ruleId }) =>
      ruleId?.endsWith('children-get-an-environment'),
    ),
  ).toHaveLength(3);
});

it('finds every way to connect past the guard', () => {
  const count = (name: string) => found[name].filter(({ ruleId }) => ruleId === 'slipway/guarded-calls').length;
  expect(count('guarded-calls-forwarded.fail.txt')).toBe(3);
  expect(count('guarded-calls-required.fail.txt')).toBe(5);
  expect(count('guarded-calls-renamed.fail.txt')).toBe(7);
});

it('knows of each dependency of the server whether it can connect', () => {
  const file = new URL('../../../package.json', import.meta.url);
  const { dependencies } = JSON.parse(readFileSync(file, 'utf8')) as { dependencies: Record<string, string> };
  const judged = [...Object.keys(HARMLESS), ...Object.keys(LIBRARIES), ...NOT_CONNECTING];
  expect(Object.keys(dependencies).filter((name) => !judged.includes(name))).toEqual([]);
});

it('finds every way to start a program that hides its environment', () => {
  expect(
    found['children-get-an-environment-hidden.fail.txt'].filter(({ ruleId }) =>
      ruleId?.endsWith('children-get-an-environment'),
    ),
  ).toHaveLength(8);
});

it('finds every plain request to the api', () => {
  expect(found['one-client.fail.txt'].filter(({ ruleId }) => ruleId === 'slipway/one-client')).toHaveLength(6);
});

it('finds every way to join signals, and every time limit without an end', () => {
  const complaints = (name: string) => found[name].filter(({ ruleId }) => ruleId === 'no-restricted-syntax').length;
  expect(complaints('no-restricted-syntax-time.fail.txt')).toBe(6);
  expect(complaints('no-restricted-syntax-time-component.fail.txt')).toBe(2);
  expect(complaints('no-restricted-syntax-time-script.fail.txt')).toBe(1);
  expect(complaints('no-restricted-syntax-time-test.fail.txt')).toBe(1);
});

it.each([
  ['plain requests', PLAIN],
  ['outbound calls', OUTBOUND],
])('each file in the list for %s exists', (_what, list) => {
  const isThere = (file: string) => existsSync(new URL(`../../../${file}`, import.meta.url));
  expect(Object.keys(list).filter((file) => !isThere(file))).toEqual([]);
});

it.each([...rules, 'enforce-module-boundaries', 'no-restricted-imports', 'no-restricted-syntax'])(
  '%s has a failing fixture',
  (rule) => {
    expect(fixtures.filter((name) => name.startsWith(rule) && name.endsWith('.fail.txt'))).not.toEqual([]);
  },
);

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Command } from 'commander';
import { expect, it } from '@jest/globals';
import { programOf } from './program.js';
import { remedyOf } from './remedies.js';
import { Session } from './session.js';

const PAGE = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
const { paths } = JSON.parse(readFileSync(createRequire(import.meta.url).resolve('@slipway/sdk/openapi.json'), 'utf8'));
const requests = Object.entries(paths as Record<string, object>).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
);
const rows = PAGE.split('\n').filter((line) => line.includes('/api/v1/'));

it('knows a line for each request that an error of the api names', () => {
  expect(rows.length).toBeGreaterThan(20);
  expect(rows.map(remedyOf).filter((row) => row.includes('/api/v1'))).toEqual([]);
});

it('knows a line for each request of the api', () => {
  expect(requests.length).toBeGreaterThan(60);
  expect(requests.filter((request) => remedyOf(request) === request)).toEqual([]);
});

const program = programOf(new Session({ ...process, cwd: '/', signal: new AbortController().signal }), '0');
const linesIn = (texts: readonly string[]) =>
  texts.flatMap((text) => remedyOf(text).match(/slipway( [a-z-]+| <[\w-]+>)+/g) ?? []);

/** The command that a line names, and how many placeholders the line has. */
function commandIn(line: string): { command: Command | undefined; given: number } {
  const [, noun, verb] = line.split(' ');
  const of = (command: Command, word = '') =>
    command.commands.find((one) => one.name() === word || one.aliases().includes(word));
  const group = of(program, noun);
  const command = group && group.commands.length > 0 ? of(group, verb) : group;
  return { command, given: line.split(' ').filter((word) => word.startsWith('<')).length };
}

it('names existing commands, with as many arguments as they take', () => {
  const lines = linesIn(rows);
  expect(lines.length).toBeGreaterThanOrEqual(rows.length);
  for (const line of lines) {
    const { command, given } = commandIn(line);
    expect([line, given]).toEqual([line, command?.registeredArguments.length]);
  }
});

it('names an existing command for each request of the api, with the arguments that it needs', () => {
  const lines = linesIn(requests);
  expect(lines).toHaveLength(requests.length);
  // A command that sends any request is no verb for an operation.
  expect(lines.filter((line) => /^slipway api\b/.test(line))).toEqual([]);
  const wrong = lines.filter((line) => {
    const { command, given } = commandIn(line);
    if (command === undefined) return true;
    const { registeredArguments: all } = command;
    return given < all.filter(({ required }) => required).length || given > all.length;
  });
  expect(wrong).toEqual([]);
});

it.each([
  ['Set one with PUT /api/v1/deployments/chat-2.b/route.', 'Set one with slipway route set chat-2.b.'],
  [
    'Lift it: PATCH /api/v1/deployments/chat {"protection": {"deletion": false}}.',
    `Lift it: slipway deployments update chat --protection '{"deletion":false}'.`,
  ],
  [
    'Go on with POST /api/v1/deployments/chat/rollback {"reason": "worse answers"}.',
    "Go on with slipway rollback chat --reason 'worse answers'.",
  ],
  ['Ask GET /api/v1/what/nobody/knows.', 'Ask GET /api/v1/what/nobody/knows.'],
  ['PATCH /api/v1/deployments/chat {"broken}.', 'PATCH /api/v1/deployments/chat {"broken}.'],
  ['Look for it.', 'Look for it.'],
])('converts %s', (said, shown) => {
  expect(remedyOf(said)).toBe(shown);
});

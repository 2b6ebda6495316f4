import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { changingOperations } from '../request-schemas.mjs';

const SOURCES = path.resolve(import.meta.dirname, '../src');
const NOUNS = path.resolve(import.meta.dirname, '../../cli/src/nouns');
const textsIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /(?<!\.spec)\.tsx?$/.test(file))
    .map((file) => readFileSync(path.join(folder, file), 'utf8'))
    .join('\n');
const sources = textsIn(SOURCES);
const found = (expression: RegExp, text = sources) => [...text.matchAll(expression)].map(([, name]) => name!);

/** Operations whose schema no screen loads, by the call in a screen. */
const CALLED: Record<string, string> = {
  endDeploymentDrain: 'deployments.endDrain(',
  retryOperation: 'operations.retry(',
  putSandboxFile: 'putFile(',
};

const WITHOUT_BUTTON: Record<string, string> = {
  createAutopilotPlan: 'A plan is a document with evidence: the autopilot or a program writes it, and people decide.',
  createContextPassport: 'Gateways make the passport of a session at its first request.',
};

it('the console has an action for each operation that changes something, or there is a reason', () => {
  const loaded = found(/from 'request:(\w+)'/g);
  const called = Object.entries(CALLED).filter(([, call]) => sources.includes(call));
  const known = [...loaded, ...called.map(([operation]) => operation), ...Object.keys(WITHOUT_BUTTON)];
  expect(
    changingOperations()
      .map(({ id }) => id)
      .filter((id) => !known.includes(id)),
  ).toEqual([]);
  expect(Object.keys(WITHOUT_BUTTON).filter((id) => loaded.includes(id))).toEqual([]);
});

it('each copied line begins with a command of the CLI', () => {
  const cli = textsIn(NOUNS);
  const verbs = new Set(found(/\b(?:verb: |accessVerb\()'([\w-]+)'/g, cli));
  const nouns = new Set(found(/\bnoun: '([\w-]+)'/g, cli));
  const words = found(/\bwords: '([^']+)'/g);
  expect(words.length).toBeGreaterThan(20);
  expect(words.filter((one) => !nouns.has(one.split(' ')[0]!) || !verbs.has(one.split(' ')[1]!))).toEqual([]);
});

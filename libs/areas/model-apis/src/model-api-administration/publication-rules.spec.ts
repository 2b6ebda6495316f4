import { expect, it } from '@jest/globals';
import { sharesServer } from './publication-rules.js';

const row = (revision_id: string, result: 'passed' | 'not_applicable') => ({
  revision_id,
  checks: [{ name: 'unknown_model', passed: result === 'passed', result, message: '', duration_ms: 1 }],
});
const revision = (id: string, ...base_urls: string[]) => ({
  id,
  name: `chat-${id}`,
  spec: { endpoint: { base_urls } } as any,
});

it('two revisions on one server that was seen to answer to any name are not published together', () => {
  const revisions = [revision('a', 'http://one/v1'), revision('b', 'http://two', 'http://one/')];
  const rows = [row('a', 'not_applicable'), row('b', 'not_applicable')];
  expect(sharesServer(rows, revisions)).toEqual({ name: 'chat-b', url: 'http://one' });
  expect(sharesServer([row('a', 'passed'), row('b', 'passed')], revisions)).toBeUndefined();
  expect(sharesServer(rows, [revision('a', 'http://one'), revision('b', 'http://two')])).toBeUndefined();
  // Two bindings of one revision, and a URL that it names twice, split nothing.
  expect(
    sharesServer([...rows, row('a', 'not_applicable')], [revision('a', 'http://one', 'http://one')]),
  ).toBeUndefined();
});

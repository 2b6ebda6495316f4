import { describe, expect, it } from '@jest/globals';
import { chatCurl, createFirstLine, firstNames, rolloutLine } from './first-run-commands.js';

it('tries first, then a limited number of numbered names', () => {
  expect(firstNames().slice(0, 3)).toEqual(['first', 'first-2', 'first-3']);
  expect(new Set(firstNames()).size).toBe(20);
});

describe('lines to copy', () => {
  it('of the CLI', () => {
    expect(createFirstLine('first-2')).toBe('slipway deployments create first-2 --labels first-run=yes');
    expect(rolloutLine('first', 'local')).toBe(
      `echo '{"model":{"id":"simulated"},"runtime":{"target":"local","engine":"sim"}}' | slipway rollouts create first --revision-file - --strategy immediate --wait`,
    );
  });

  it("of curl quote any question, with any form of the gateway's address", () => {
    const line = chatCurl('http://gateway.test/v1/', 'first', `What's up?`);
    expect(line).toMatch(/^curl -N http:\/\/gateway\.test\/v1\/chat\/completions \\\n/);
    expect(line).toContain(`What'\\''s up?`);
  });
});

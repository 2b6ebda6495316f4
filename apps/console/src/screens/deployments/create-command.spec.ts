import { describe, expect, it } from '@jest/globals';
import { createDeploymentLine } from './create-command.js';

describe('the line of the CLI', () => {
  it('names only the fields that were given', () =>
    expect(createDeploymentLine({ name: 'chat' })).toBe('slipway deployments create chat'));

  it('keeps a text in one word, whatever it contains', () =>
    expect(
      createDeploymentLine({ name: 'chat', description: `Bob's; rm -rf $HOME`, labels: { team: 'search', tier: '1' } }),
    ).toBe(`slipway deployments create chat --description 'Bob'\\''s; rm -rf $HOME' --labels team=search,tier=1`));

  it('passes values that are no text as JSON', () =>
    expect(createDeploymentLine({ name: 'chat', protection: { deletion: true }, revision_history_limit: 5 })).toBe(
      `slipway deployments create chat --protection '{"deletion":true}' --revision-history-limit 5`,
    ));
});

import { describe, expect, it } from '@jest/globals';
import { countStates, isDeploymentMatch } from './filter.js';

const CHAT = {
  name: 'chat',
  display_name: 'Chat of the shop',
  description: null,
  environment: 'production',
  state: 'active',
  labels: { team: 'search' },
};

describe('the text filter', () => {
  it.each(['', 'cha', 'SHOP', 'team=search', 'prod chat'])('finds the deployment by "%s"', (text) =>
    expect(isDeploymentMatch(CHAT, text)).toBe(true),
  );

  it('requires every word', () => expect(isDeploymentMatch(CHAT, 'chat staging')).toBe(false));

  it('does not match across two adjacent fields', () => expect(isDeploymentMatch(CHAT, 'chatchat')).toBe(false));
});

it('counts states, the worst first and those of a later api last', () => {
  const rows = ['active', 'hibernating', 'failed', 'active'].map((state) => ({ state }));
  expect(countStates(rows)).toEqual([
    { state: 'failed', count: 1 },
    { state: 'active', count: 2 },
    { state: 'hibernating', count: 1 },
  ]);
});

import { describe, expect, it } from '@jest/globals';
import { createLine, NAME } from './create-command.js';

describe('the line of the CLI', () => {
  it('names only what was given', () => expect(createLine({ name: 'chat' })).toBe('slipway deployments create chat'));

  it('keeps a text in one word, whatever it holds', () =>
    expect(
      createLine({ name: 'chat', description: `Bob's; rm -rf $HOME`, labels: { team: 'search', tier: '1' } }),
    ).toBe(`slipway deployments create chat --description 'Bob'\\''s; rm -rf $HOME' --labels team=search,tier=1`));
});

describe('names', () => {
  it.each(['a', 'chat-2', '0'.repeat(63)])('such as %s are taken', (name) => expect(NAME.test(name)).toBe(true));
  it.each(['', 'Chat', '-a', 'a-', 'a b', 'a'.repeat(64)])('such as "%s" are not', (name) =>
    expect(NAME.test(name)).toBe(false),
  );
});

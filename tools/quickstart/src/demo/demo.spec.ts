import { describe, expect, it } from '@jest/globals';
import { events } from './chat.js';
import { bar, Narrator, type OperationProgress } from './narrator.js';

const operation = (progress: number, ...done: string[]): OperationProgress => ({
  id: 'op_1',
  status: progress === 100 ? 'succeeded' : 'running',
  progress,
  current_step: 'await_ready',
  steps: ['provision', 'await_ready'].map((name) => ({
    name,
    status: done.includes(name) ? 'succeeded' : 'pending',
    message: done.includes(name) ? 'fine' : '',
  })),
});

const told = (isTTY: boolean): string => {
  let text = '';
  const narrator = new Narrator({ isTTY, columns: 80, write: (part) => (text += part) });
  for (const now of [
    operation(0),
    operation(50, 'provision'),
    operation(50, 'provision'),
    operation(100, 'provision', 'await_ready'),
  ])
    narrator.operation(now);
  return text;
};

describe('Narrator', () => {
  it('writes a plain line per step if there is no terminal', () => {
    expect(told(false)).toBe('  ✓ provision    fine\n  ✓ await_ready  fine\n');
  });

  it('repeats a wait on a terminal only, where the detail is seen too', () => {
    const waits = (isTTY: boolean): string => {
      let text = '';
      const narrator = new Narrator({ isTTY, columns: 80, write: (part) => (text += part) });
      for (const [what, detail] of [['a', ' 1 s'], ['a', ' 2 s'], ['b'], ['a', ' 3 s']] as [string, string?][])
        narrator.passing(what, detail);
      return text.replaceAll('\r\u001b[2K', '|');
    };
    expect([waits(false), waits(true)]).toEqual(['a\nb\na\n', '|a 1 s|a 2 s|b|a 3 s']);
  });

  it('updates a bar on a terminal, and clears it completely', () => {
    expect(told(true)).toContain(`${bar(50)}  50 %  await_ready`);
    expect(told(true).endsWith('✓ await_ready  fine\n')).toBe(true);
  });
});

it('reads server-sent events in pieces of any size', async () => {
  const event = (content: string): string => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}`;
  const stream = `${event('a')}\r\n\r\n: heartbeat\n\n${event('ü')}\n\ndata: [DONE]\n\n${event('late')}\n\n`;
  const bytes = new TextEncoder().encode(stream);
  for (const size of [1, 7, bytes.length]) {
    async function* cut(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    }
    const contents: (string | undefined)[] = [];
    for await (const chunk of events(cut())) contents.push(chunk.choices?.[0]?.delta?.content);
    expect(contents).toEqual(['a', 'ü']);
  }
});

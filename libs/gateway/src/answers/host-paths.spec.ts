import { expect, it } from '@jest/globals';
import { withoutHostPaths } from './host-paths.js';

const shown = (text: string): string => withoutHostPaths(text, '/models/x.gguf', 'chat');

it.each([
  ["cannot load '/models/x.gguf': no", "cannot load 'chat': no"],
  ['model=/models/x.gguf.', 'model=chat.'],
  ['File "/usr/lib/python3/vllm/engine.py", line 3', 'File "[path]", line 3'],
  ['open:/root.bin (~/cache/x)', 'open:[path] ([path])'],
  ['file:///srv/x and C:\\models\\x.gguf', '[path] and [path]'],
  ['POST /v1/chat/completions and/or http://host:80/a/b, 3/4 / 5', undefined],
  ['the model meta/llama-3 takes 1/2 of a day', undefined],
])('hides paths of the host and nothing else: %s', (given, expected = given) => {
  expect(shown(given)).toBe(expected);
});

it('keeps words that contain a short model name', () => {
  expect(withoutHostPaths('memory', 'm', 'chat')).toBe('memory');
  expect(withoutHostPaths('no llama-3 here', 'llama-3', '$& chat')).toBe('no $& chat here');
});

it('takes linear time for a long text', () => {
  const started = process.cpuUsage();
  shown('/a'.repeat(32_000) + ' ' + '/'.repeat(64_000) + '~'.repeat(64_000));
  expect(process.cpuUsage(started).user / 1_000).toBeLessThan(500);
});

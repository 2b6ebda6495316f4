import { expect, it } from '@jest/globals';
import { withoutHostPaths } from './host-paths.js';

const shown = (text: string): string => withoutHostPaths(text, '/models/x.gguf', 'chat');

it.each([
  ["cannot load '/models/x.gguf': no", "cannot load 'chat': no"],
  ['model=/models/x.gguf.', 'model=chat.'],
  ['File "/usr/lib/python3/vllm/engine.py", line 3', 'File "[path]", line 3'],
  ['open:/root.bin (~/cache/x)', 'open:[path] ([path])'],
  ['file:///srv/x and C:\\models\\x.gguf', '[path] and [path]'],
  ["no '/модели/лама.gguf' or /模型/千问", "no '[path]' or [path]"],
  [String.raw`{"file":"\/models\/x"} and \\/srv\\/x`, '{"file":"[path]"} and [path]'],
  ['GET ?file=%2Fsrv%2Fmy%20models%2fx', 'GET ?file=[path]'],
  ['llama-server -m/srv/x.gguf -c 4', 'llama-server -m[path] -c 4'],
  ['/v1-models/llama/x', '[path]'],
  [String.raw`D:\модели\x, \\nas\models$\x, "\\\\nas\\models"`, '[path], [path], "[path]"'],
  [String.raw`the text \\u4e2d\\u6587 and 50% or 100%25`, undefined],
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
  for (const unit of ['\\', '\\\\a', '%2f', '%', '-a/', '/a.', 'C:\\', '\\/a'])
    shown(unit.repeat(64_000 / unit.length));
  expect(process.cpuUsage(started).user / 1_000).toBeLessThan(500);
});

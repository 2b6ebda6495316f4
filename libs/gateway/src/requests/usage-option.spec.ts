import { expect, it } from '@jest/globals';
import { editTopLevel, BodyScan } from './request-body.js';
import { isAboutOption, mayRequestUsage, modelWithOption, UsageChunkFilter, withoutOption } from './usage-option.js';

const CHOICE = 'data: {"id":"1","choices":[{"index":0,"delta":{"content":"é [] \\"usage\\""}}],"usage":null}\n\n';
const USAGE = 'data: {"id":"1","choices": [],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\n';
const DONE = 'data: [DONE]\n\n';

function filtered(stream: string, size: number): string {
  const filter = new UsageChunkFilter();
  const bytes = Buffer.from(stream);
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(filter.push(bytes.subarray(at, at + size)));
  return Buffer.concat([...pieces, filter.end()]).toString();
}

it('removes the chunk with the usage and no other byte, wherever the network cuts the stream', () => {
  const kept = `: ping\n\nevent: x\n${CHOICE}data: {"choices":[]}\n\ndata: {"choices":[],"usage":null}\n\n${CHOICE}`;
  for (const size of [1, 2, 7, 50, 10_000]) {
    expect(filtered(kept + USAGE + DONE, size)).toBe(kept + DONE);
    expect(filtered((kept + USAGE + DONE).replaceAll('\n', '\r\n'), size)).toBe((kept + DONE).replaceAll('\n', '\r\n'));
    expect(filtered(kept + USAGE.trim(), size)).toBe(kept);
    expect(filtered(`${kept}data: {"cho`, size)).toBe(`${kept}data: {"cho`);
  }
});

it('lets a token pass before the end of its line, and a long line that has no choice', () => {
  const filter = new UsageChunkFilter();
  const begun = CHOICE.slice(0, CHOICE.indexOf('é'));
  expect(filter.push(Buffer.from(begun)).toString()).toBe(begun);
  const long = `data: ${'x'.repeat(20_000)}`;
  expect(new UsageChunkFilter().push(Buffer.from(long)).toString()).toBe(long);
});

it('adds the option to a body, and removes it without changing another byte', () => {
  const text = Buffer.from('{"stream":true, "model" : "chat" ,"x":[1.0]}');
  const scan = new BodyScan();
  scan.push(text);
  const sent = scan.end(text);
  const body = editTopLevel(sent, { model: modelWithOption('a"é') }, []);
  expect(JSON.parse(body.toString())).toEqual({
    stream: true,
    model: 'a"é',
    x: [1],
    stream_options: { include_usage: true },
  });
  expect(withoutOption(body, 'a"é')).toEqual(editTopLevel(sent, { model: JSON.stringify('a"é') }, []));
});

it('requests usage of streams whose client has not decided itself', () => {
  expect([
    mayRequestUsage('/v1/completions', true, ['model']),
    mayRequestUsage('/v1/completions', false, ['model']),
    mayRequestUsage('/v1/completions', true, ['model', 'stream_options']),
    mayRequestUsage('/v1/embeddings', true, ['model']),
  ]).toEqual([true, false, false, false]);
});

it('recognizes an engine’s error about the option', () => {
  expect(isAboutOption({ message: 'body.stream_options: Extra inputs are not permitted' })).toBe(true);
  expect(isAboutOption({ message: 'unknown parameter', param: 'include_usage' })).toBe(true);
  expect([isAboutOption({ message: 'unknown parameter' }), isAboutOption(null)]).toEqual([false, false]);
});

it('stops searching a line that arrives in thousands of pieces', () => {
  const line = Buffer.from(`data: ${'"choices" '.repeat(1_600)}`);
  const filter = new UsageChunkFilter();
  let passedAfter = 0;
  for (let at = 0; at < line.length && passedAfter === 0; at += 1)
    if (filter.push(line.subarray(at, at + 1)).length > 0) passedAfter = at;
  expect(passedAfter).toBeGreaterThan(500);
  expect(passedAfter).toBeLessThan(1_000);
});

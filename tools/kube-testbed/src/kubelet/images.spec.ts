import { expect, it } from '@jest/globals';
import { commandLine, isImageReference, nameOfImage } from './images.js';

it.each([
  ['test/sim', 'test/sim'],
  ['test/sim:v1', 'test/sim'],
  ['registry.corp.example/test/sim:v1', 'test/sim'],
  ['localhost:5000/test/sim', 'test/sim'],
  [`localhost/test/sim@sha256:${'a'.repeat(64)}`, 'test/sim'],
  [`test/sim:v1@sha256:${'a'.repeat(64)}`, 'test/sim'],
])('%s is %s', (reference, name) => {
  expect(nameOfImage(reference)).toBe(name);
  expect(isImageReference(reference)).toBe(true);
});

it.each(['Test/Sim', 'test sim', '', '/x', 'a@sha256:1'])('%j is no image', (reference) => {
  expect(isImageReference(reference)).toBe(false);
});

const engine = { command: ['node', 'engine.mjs'], listens: true };

it.each([
  ['the program is the image’s', ['vllm', 'serve', '--host', '0.0.0.0'], true, ['serve', '--host', '127.77.1.2']],
  ['where it listens is added', ['vllm', '--port', '80'], true, ['--port', '80', '--host', '127.77.1.2']],
  ['also in one word', ['vllm', '--host=0.0.0.0'], true, ['--host=127.77.1.2']],
  ['arguments alone are kept whole', ['--port', '80'], false, ['--port', '80', '--host', '127.77.1.2']],
  [
    'nothing else is touched',
    ['x', '--model=0.0.0.0/x', '--host', '[::]'],
    true,
    ['--model=0.0.0.0/x', '--host', '127.77.1.2'],
  ],
])('%s', (_what, argv, hasCommand, wanted) => {
  expect(commandLine(engine, argv, hasCommand, '127.77.1.2')).toEqual(['node', 'engine.mjs', ...wanted]);
});

it('runs a command as it stands where the image is nobody’s', () => {
  expect(commandLine({}, ['sh', '-c', 'exec x 0.0.0.0'], true, '127.77.1.2')).toEqual(['sh', '-c', 'exec x 0.0.0.0']);
});

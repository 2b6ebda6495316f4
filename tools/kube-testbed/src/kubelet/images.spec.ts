import { expect, it } from '@jest/globals';
import { commandLine, isImageReference, nameOfImage } from './images.js';

it.each([
  ['test/sim', 'test/sim'],
  ['test/sim:v1', 'test/sim'],
  ['registry.corp.example/test/sim:v1', 'test/sim'],
  ['localhost:5000/test/sim', 'test/sim'],
  [`localhost/test/sim@sha256:${'a'.repeat(64)}`, 'test/sim'],
  [`test/sim:v1@sha256:${'a'.repeat(64)}`, 'test/sim'],
])('%s names the image %s', (reference, name) => {
  expect(nameOfImage(reference)).toBe(name);
  expect(isImageReference(reference)).toBe(true);
});

it.each(['Test/Sim', 'test sim', '', '/x', 'a@sha256:1'])('%j is not an image', (reference) => {
  expect(isImageReference(reference)).toBe(false);
});

const engine = { command: ['node', 'engine.mjs'], listens: true };

it.each([
  [
    'the program of the image replaces that of the command',
    ['vllm', 'serve', '--host', '0.0.0.0'],
    true,
    ['serve', '--host', '127.77.1.2'],
  ],
  ['a missing listen address is added', ['vllm', '--port', '80'], true, ['--port', '80', '--host', '127.77.1.2']],
  ['a listen address in one argument is replaced', ['vllm', '--host=0.0.0.0'], true, ['--host=127.77.1.2']],
  ['arguments without a command are all kept', ['--port', '80'], false, ['--port', '80', '--host', '127.77.1.2']],
  [
    'other arguments stay unchanged',
    ['x', '--model=0.0.0.0/x', '--host', '[::]'],
    true,
    ['--model=0.0.0.0/x', '--host', '127.77.1.2'],
  ],
])('%s', (_what, argv, hasCommand, wanted) => {
  expect(commandLine(engine, argv, hasCommand, '127.77.1.2')).toEqual(['node', 'engine.mjs', ...wanted]);
});

it('an image with no known content runs the command of the pod unchanged', () => {
  expect(commandLine({}, ['sh', '-c', 'exec x 0.0.0.0'], true, '127.77.1.2')).toEqual(['sh', '-c', 'exec x 0.0.0.0']);
});

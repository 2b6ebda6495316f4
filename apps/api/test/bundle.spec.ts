import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';

const APPS = fileURLToPath(new URL('../..', import.meta.url));

/** The modules that a program has loaded before its first line, by the bundler's comments. */
function loadedBy(program: string): string[] {
  const read = new Map<string, string>();
  const follow = (file: string): void => {
    if (read.has(file)) return;
    const text = readFileSync(file, 'utf8');
    read.set(file, text);
    for (const [, part] of text.matchAll(/^(?:import|export)\b[^;]*?"(\.\/part-[^"]+)";$/gm))
      follow(path.join(path.dirname(file), part!));
  };
  follow(path.join(APPS, program));
  const named = [...read.values()].flatMap((text) => [
    ...text.matchAll(/^ *\/\/ ((?:node_modules|libs|apps)\/\S+)$/gm),
  ]);
  return [...new Set(named.map(([, name]) => name!))];
}

it.each(['api/dist/main.js', 'worker/dist/main.js'])(
  '%s loads no Kubernetes and no S3 before a setting asks for them',
  (program) => {
    const loaded = loadedBy(program);
    expect(loaded.filter((name) => /^libs\/registry\/|\/@nestjs\/core\//.test(name)).length).toBeGreaterThan(10);
    expect(loaded.filter((name) => /^libs\/targets\/kubernetes\/|\/@aws-sdk\//.test(name))).toEqual([]);
  },
);

it('the gateway has neither Nest nor TypeORM in it', () => {
  const loaded = loadedBy('gateway/dist/main.js');
  expect(loaded.filter((name) => name.startsWith('libs/gateway/')).length).toBeGreaterThan(10);
  expect(loaded.filter((name) => /\/(@nestjs|typeorm)\//.test(name))).toEqual([]);
});

it.each([
  ['TypeORM', /\/typeorm\/.*\/DataSource\.js$/],
  ['class-validator', /\/class-validator\/.*\/MetadataStorage\.js$/],
  ['Nest', /\/@nestjs\/core\/nest-application\.js$/],
])('%s is in a program once: what one copy registers another does not know', (_, file) => {
  expect(loadedBy('api/dist/main.js').filter((name) => file.test(name))).toHaveLength(1);
});

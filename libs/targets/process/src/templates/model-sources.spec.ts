import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ModelSources, sourceProblem } from './model-sources.js';
import { ProcessDriver } from '../process-driver.js';

describe.each<[pattern: string, takes: string[], refuses: string[]]>([
  ['/srv/models/**', ['/srv/models/a', '/srv/models/a/b.gguf'], ['/srv/modelsx/a', '/srv', '/etc/passwd']],
  ['/srv/models/**/*.gguf', ['/srv/models/a.gguf', '/srv/models/a/b/c.gguf'], ['/srv/models/a.bin', '/srv/a.gguf']],
  ['/srv/*/m?.gguf', ['/srv/x/m1.gguf'], ['/srv/x/y/m1.gguf', '/srv/x/m12.gguf', '/srv/x/m.gguf']],
  ['/srv/a.gguf', ['/srv/a.gguf'], ['/srv/axgguf', '/srv/a.gguf/b']],
  ['hf:Qwen/*', ['Qwen/Qwen3-8B'], ['Qwen2/x', 'Qwen', 'Qwen/a/b', '/Qwen/a', 'Qwen/..', '../Qwen/a', 'hf:Qwen/a']],
])('%s', (pattern, takes, refuses) => {
  it('is a valid pattern, and allows only matching models', () => {
    expect(sourceProblem(pattern)).toBeUndefined();
    const sources = new ModelSources([pattern]);
    expect(takes.filter((uri) => sources.problemOf(uri) !== undefined)).toEqual([]);
    expect(refuses.filter((uri) => sources.problemOf(uri) === undefined)).toEqual([]);
  });
});

it.each(['/srv/models/../../etc/passwd', '/srv/models/./a', '/srv//models/a', '/srv/models/', '/srv/models/a/..'])(
  'rejects %s as a path',
  (uri) => {
    expect(new ModelSources(['/srv/models/**', '/**']).problemOf(uri)).toContain('must be a path without ".."');
  },
);

it('names the allowed models, and checks a hostile name quickly', () => {
  const sources = new ModelSources(['/srv/**/*a*a*a*a*b', 'hf:Qwen/*']);
  expect(sources.problemOf('/etc/passwd')).toBe(
    'is outside the model sources that the operator allows: /srv/**/*a*a*a*a*b, hf:Qwen/*',
  );
  const before = performance.now();
  expect(sources.problemOf(`/srv/${'a/'.repeat(200)}${'a'.repeat(600)}`)).toContain('outside');
  expect(sources.problemOf(`/srv/${'a'.repeat(100_000)}`)).toContain('longer than 1024');
  expect(performance.now() - before).toBeLessThan(1_000);
});

describe('the target of a path', () => {
  let home: string;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'slipway-sources-'));
    await Promise.all(['models/blobs', 'store', 'other'].map((name) => mkdir(join(home, name), { recursive: true })));
    for (const file of ['models/blobs/1', 'other/secret', 'store/m.gguf']) await writeFile(join(home, file), '');
    await symlink(join(home, 'models/blobs/1'), join(home, 'models/cached.gguf'));
    await symlink(join(home, 'other/secret'), join(home, 'models/evil.gguf'));
    await symlink(join(home, 'other'), join(home, 'models/folder'));
    await symlink(join(home, 'store'), join(home, 'linked'));
  });
  afterAll(() => rm(home, { recursive: true }));

  it('may be another file below the folder of the pattern, and no other', async () => {
    const sources = new ModelSources([`${home}/models/**`, `${home}/linked/*.gguf`]);
    const told = (file: string) => sources.linkProblemOf(join(home, file));
    expect(await told('models/cached.gguf')).toBeUndefined();
    expect(await told('linked/m.gguf')).toBeUndefined();
    expect(await told('models/missing.gguf')).toBeUndefined();
    expect(await told('models/evil.gguf')).toContain(`leads to ${home}/other/secret, which is outside`);
    expect(await told('models/folder/secret')).toContain('outside');
    expect(await sources.linkProblemOf('Qwen/Qwen3-8B')).toBeUndefined();
  });

  it('is checked before anything is started', async () => {
    const command = ['node', '--version', '{port}', '{model.uri}'];
    const engines = { e: { command, model_sources: ['{home}/models/**'] } };
    const driver = new ProcessDriver({ name: 'host', kind: 'process', engines }, { home });
    const start = driver.provision({
      instanceId: 'i',
      generation: 1,
      model: { id: 'm', uri: join(home, 'models/evil.gguf') },
      runtime: { engine: 'e', args: {}, env: {} },
      probe: { intervalSeconds: 1, timeoutSeconds: 1, failureThreshold: 1 },
    });
    await expect(start).rejects.toMatchObject({ name: 'InvalidSpecError', issues: [{ field: 'model.uri' }] });
    expect(await readdir(home)).not.toContain('instances');
    await driver.close();
  });
});

import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { downloadProgress, type InstanceSpec, type LogLine, type StartEnd, startFailure } from '@slipway/target-driver';
import { observeUntil, terminateUntilGone } from '@slipway/target-driver/conformance';
import { EngineHost, isRunning, until } from '../../test/engine-host.js';
import type { EngineConfig } from '../templates/engine-config.js';
import type { ProcessDriver } from '../process-driver.js';

let host: EngineHost;
let driver: ProcessDriver;
beforeEach(async () => {
  host = await EngineHost.create();
});
afterEach(async () => {
  await driver?.close();
  await host.dispose();
});
const configured = (engine: Partial<EngineConfig> = {}) => (driver = host.driver({}, engine));

const linesOf = (...texts: string[]): LogLine[] => texts.map((text) => ({ stream: 'stderr', text }));
const causeOf = (end: Partial<StartEnd>, ...texts: string[]) =>
  startFailure({ code: 1, signal: null, ...end }, linesOf(...texts));

describe('the cause of a failed start', () => {
  it.each([
    [
      'gpu_memory',
      'ValueError: Free memory on device (3.1/79.2 GiB) on startup is less than desired GPU memory utilization',
    ],
    ['gpu_memory', 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB'],
    [
      'gpu_memory',
      'ggml_backend_cuda_buffer_type_alloc_buffer: allocating 100 MiB on device 0: cudaMalloc failed: out of memory',
    ],
    ['gpu_memory', 'ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`'],
    ['gpu_memory', 'Not enough memory. Please try to increase --mem-fraction-static.'],
    [
      'kv_too_small',
      "ValueError: To serve at least one request with the model's max seq len (32768), 4.0 GiB KV cache is needed",
    ],
    ['port_in_use', 'OSError: [Errno 98] Address already in use'],
    ['port_in_use', "srv start: couldn't bind HTTP server socket, hostname: 127.0.0.1, port: 8080"],
    ['model_access', 'You are trying to access a gated repo.'],
    ['model_missing', 'gguf_init_from_file: failed to open GGUF file /srv/models/x.gguf (No such file or directory)'],
    ['model_missing', 'huggingface_hub.errors.RepositoryNotFoundError: 404 Client Error.'],
    ['bad_argument', 'error: invalid argument: --port=8080'],
    ['bad_argument', 'vllm serve: error: unrecognized arguments: --no-such'],
    ['driver', 'RuntimeError: CUDA driver version is insufficient for CUDA runtime version'],
  ])('is %s for: %s', (cause, line) => {
    const failure = causeOf(
      {},
      'loading',
      line,
      'RuntimeError: Engine core initialization failed. See root cause above.',
    );
    expect(failure).toMatchObject({ cause, line, exit_code: 1, signal: null });
    expect(failure.remediation).toMatch(/\.$/);
  });

  it('follows from the exit if no line explains it, and is never a guess', () => {
    expect(causeOf({ code: 2 }, 'usage: engine').cause).toBe('bad_argument');
    expect(causeOf({ code: null, signal: 'SIGKILL' }).cause).toBe('out_of_memory');
    expect(causeOf({ code: null, signal: 'SIGKILL', wasShortOfMemory: false }).cause).toBe('killed');
    expect(causeOf({ code: null, signal: 'SIGSEGV' }).cause).toBe('killed');
    expect(causeOf({ code: null }).cause).toBe('lost');
    expect(causeOf({ code: 1 }, 'something went wrong', '').line).toBe('something went wrong');
    expect(causeOf({ code: 0 }, 'bye').cause).toBe('exited');
  });

  it('includes the last 40 lines, each cut to 500 characters', () => {
    const { log_tail: tail } = causeOf({}, ...Array.from({ length: 60 }, (_, index) => `${index} ${'x'.repeat(900)}`));
    expect([tail.length, tail[0]!.slice(0, 3), Math.max(...tail.map((line) => line.length))]).toEqual([40, '20 ', 500]);
  });
});

it('the progress of a download sums the last state of each of its files', () => {
  const lines = linesOf(
    'Fetching 12 files:  25%|##   | 3/12 [00:05<00:15, 1.7s/it]',
    'a.safetensors:  10%|#    | 0.50G/4.98G [00:05<00:45, 98MB/s]',
    'b.safetensors: 100%|#####| 10.0M/10.0M [00:01<00:00, 98MB/s]',
    'a.safetensors:  45%|##   | 2.24G/4.98G [00:31<00:38, 71.2MB/s]',
  );
  expect(downloadProgress(lines)).toEqual({ phase: 'downloading', bytes: 2_250_000_000, total_bytes: 4_990_000_000 });
  expect(downloadProgress(linesOf('connecting'))).toEqual({ phase: 'downloading' });
});

describe('a start whose engine', () => {
  it("ends before it is ready reports the cause and the engine's last lines", async () => {
    configured();
    const spec = host.spec({}, { says: 'loading\\nerror: invalid argument: --x=1\\n', exit_code: 1 });
    await driver.provision(spec);
    expect(await observeUntil(driver, spec, 'exited')).toMatchObject({
      reason: 'bad_argument',
      message: 'it ended with code 1: error: invalid argument: --x=1',
      failure: { cause: 'bad_argument', exit_code: 1, log_tail: ['loading', 'error: invalid argument: --x=1'] },
    });
  });

  it('ends with code 0 before it is ready has failed as well', async () => {
    configured();
    const spec = host.spec({}, { exit_code: '0' });
    await driver.provision(spec);
    expect(await observeUntil(driver, spec, 'exited')).toMatchObject({ failure: { cause: 'exited', exit_code: 0 } });
  });

  it('ends after it was ready has not failed', async () => {
    await host.setHealthy(true);
    configured();
    await driver.provision(host.spec());
    const { incarnation } = await observeUntil(driver, host.spec(), 'ready');
    process.kill(Number(incarnation), 'SIGKILL');
    expect((await observeUntil(driver, host.spec(), 'exited')).failure).toBeUndefined();
  });

  it('does not exist names the missing program', async () => {
    configured();
    const spec = host.spec({ runtime: { engine: 'missing', args: {}, env: {} } });
    await driver.provision(spec);
    expect(await observeUntil(driver, spec, 'exited')).toMatchObject({
      reason: 'program_not_found',
      message: 'it ended with code 127: no-such-program-anywhere was not found',
      failure: { cause: 'program_not_found', exit_code: 127 },
    });
  });
});

describe('a health check', () => {
  const starting = async (engine: Partial<EngineConfig>, status: number) => {
    configured(engine);
    const spec = host.spec({}, { status });
    await driver.provision(spec);
    await until('it answers', async () => {
      const { state, message } = await driver.observe(spec);
      return state === 'unhealthy' || message?.includes(String(status)) === true;
    });
    return driver.observe(spec);
  };

  it.each([404, 301])('that gets %i while the engine starts reports a wrong path at once', async (status) => {
    expect(await starting({ ready: { while_starting: '503' } }, status)).toMatchObject({
      state: 'unhealthy',
      reason: 'health_path_missing',
    });
  });

  it('accepts any answer if the template does not say what to expect', async () => {
    expect(await starting({}, 404)).toMatchObject({ state: 'starting', progress: { phase: 'loading' } });
  });

  it('counts an engine that is loading as starting', async () => {
    expect(await starting({ ready: { while_starting: '503' } }, 503)).toMatchObject({ state: 'starting' });
  });

  it('uses the path of the revision until the engine is ready, and then that of the template', async () => {
    await host.setHealthy(true);
    configured({ live: { failure_threshold: 3 } });
    const ready = async (spec: InstanceSpec) => {
      await driver.provision(spec);
      await observeUntil(driver, spec, 'ready');
      await host.setHealthy(false);
      let misses = 1;
      while ((await driver.observe(spec)).state === 'ready') misses += 1;
      await host.setHealthy(true);
      return misses;
    };
    expect(await ready(host.spec())).toBe(3);
    const probe = { ...host.spec().probe, set: ['failureThreshold' as const] };
    expect(await ready(host.spec({ instanceId: 'inst_2', probe }))).toBe(2);
  });

  it('of a ready engine runs no more often than the template says', async () => {
    await host.setHealthy(true);
    configured({ live: { interval_seconds: 600, failure_threshold: 1 } });
    await driver.provision(host.spec());
    await observeUntil(driver, host.spec(), 'ready');
    expect((await driver.observe(host.spec())).state).toBe('ready');
    await host.setHealthy(false);
    expect((await driver.observe(host.spec())).state).toBe('ready');
    expect(await driver.answers(host.spec(), (await driver.observe(host.spec())).baseUrl!)).toBe(false);
  });
});

describe('a model that is fetched before the start', () => {
  const fetching: Partial<EngineConfig> = {
    prefetch: {
      command: ['node', 'test/prefetch.mjs', '{home}', '{model.uri}'],
      env: { HF_HUB_OFFLINE: '0' },
      timeout_seconds: 60,
    },
  };
  const spec = (instanceId: string, generation = 1) =>
    host.spec({ instanceId, generation, model: { id: 'tiny', uri: 'org/tiny' } });
  const slow = () => join(host.home, 'slow');
  const fetched = async () =>
    (await readFile(join(host.home, 'fetched'), 'utf8').catch(() => '')).split('\n').slice(0, -1);
  /** Like the reconciler: calls it again whenever the instance is absent. */
  const provisionUntil = async (by: ProcessDriver, of: InstanceSpec, state: string) => {
    await until(`it is ${state}`, async () => {
      const seen = await by.observe(of);
      if (seen.state === 'absent') await by.provision(of);
      return seen.state === state;
    });
    return by.observe(of);
  };
  beforeEach(() => host.setHealthy(true));

  it('reports its bytes, is fetched once for all instances that wait, and then they start', async () => {
    await writeFile(slow(), '');
    configured(fetching);
    const other = host.driver({}, fetching);
    await Promise.all([driver.provision(spec('a')), other.provision(spec('b'))]);
    await until('bytes are seen', async () => (await driver.observe(spec('a'))).progress?.bytes === 250_001_500);
    expect(await provisionUntil(other, spec('b'), 'starting')).toMatchObject({
      reason: 'downloading',
      progress: { phase: 'downloading', bytes: 250_001_500, total_bytes: 1_000_003_000 },
    });
    await rm(slow());
    await Promise.all([provisionUntil(driver, spec('a'), 'ready'), provisionUntil(other, spec('b'), 'ready')]);
    await provisionUntil(driver, spec('c'), 'ready');
    expect(await fetched()).toEqual(['org/tiny  0']);
    expect((await host.starts()).map(({ instance }) => instance).sort()).toEqual(['a', 'b', 'c']);
    await other.close();
  });

  it('fails the start if it cannot be fetched, and the next start tries again', async () => {
    await writeFile(
      join(host.home, 'refused'),
      'You are trying to access a gated repo. token hf_abcdefghijklmnopqrstuvwxyz',
    );
    configured(fetching);
    expect(await provisionUntil(driver, spec('a'), 'exited')).toMatchObject({
      reason: 'model_access',
      message: expect.stringContaining('gated repo. token [redacted]'),
      failure: { cause: 'model_access', exit_code: 1 },
    });
    await driver.provision(spec('a'));
    expect([(await driver.observe(spec('a'))).state, (await fetched()).length]).toEqual(['exited', 1]);
    await rm(join(host.home, 'refused'));
    await provisionUntil(driver, spec('a', 2), 'ready');
    expect((await fetched()).length).toBe(2);
  });

  it('is fetched again if the engine does not find it', async () => {
    configured(fetching);
    const { runtime } = host.spec({}, { says: 'huggingface_hub.errors.LocalEntryNotFoundError\\n', exit_code: 1 });
    expect(await provisionUntil(driver, { ...spec('a'), runtime }, 'exited')).toMatchObject({
      reason: 'model_missing',
    });
    await provisionUntil(driver, spec('a', 2), 'ready');
    expect((await fetched()).length).toBe(2);
  });

  it('is given up after its time limit, with all child processes', async () => {
    await writeFile(slow(), '');
    configured({ prefetch: { ...fetching.prefetch!, timeout_seconds: 1 } });
    expect(await provisionUntil(driver, spec('a'), 'exited')).toMatchObject({ reason: 'start_timeout' });
  });

  it.each(['provision.before_spawn', 'provision.after_spawn', 'provision.after_claim'])(
    'is fetched once even if a worker was killed at %s',
    async (point) => {
      await host.provisionAndDieAt(point, spec('a'), {}, fetching);
      configured(fetching);
      await provisionUntil(driver, spec('a'), 'ready');
      expect((await fetched()).length).toBe(1);
      expect((await host.starts()).length).toBe(1);
    },
  );

  it('is fetched again after its process died, when no child of it runs any more', async () => {
    await writeFile(slow(), '');
    configured(fetching);
    await driver.provision(spec('a'));
    await until('it runs', async () => (await fetched()).length === 1);
    const pid = await host.pidOfPrefetch();
    process.kill(pid, 'SIGKILL');
    await until('it is gone', async () => !(await isRunning(pid)));
    await provisionUntil(driver, spec('a'), 'exited');
    const [rest] = (await readFile(join(host.home, 'fetching'), 'utf8')).split('\n').map(Number);
    expect(await isRunning(rest!)).toBe(true);
    await driver.provision(spec('a', 2));
    await until('the second attempt runs', async () => {
      await driver.provision(spec('a', 2));
      return (await fetched()).length === 2;
    });
    expect(await isRunning(rest!)).toBe(false);
    await rm(slow());
    await provisionUntil(driver, spec('a', 2), 'ready');
    await terminateUntilGone(driver, 'a');
  });
});

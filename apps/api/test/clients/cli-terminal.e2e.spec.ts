import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { spawn, type IPty } from '@lydell/node-pty';
import { COMMAND, isInstalled } from './slipway-command.js';
import { ROOT, Stack, until } from '../harness/stack.js';

jest.setTimeout(180_000);

const CTRL_C = '\u0003';

interface Screen {
  pty: IPty;
  /** Everything that was written, both streams in order. */
  text: () => string;
  says: (what: string | RegExp) => Promise<void>;
  ended: Promise<number>;
}

describe('the command slipway, in a real terminal, against processes of the product', () => {
  let stack: Stack;
  let home: string;

  const type = (words: string[], env: Record<string, string> = {}, cols = 120): Screen =>
    open(process.execPath, [COMMAND, ...words], env, cols);
  const open = (program: string, words: string[], env: Record<string, string> = {}, cols = 120): Screen => {
    const pty = spawn(program, words, {
      cols,
      rows: 30,
      cwd: home,
      env: {
        PATH: process.env['PATH']!,
        HOME: home,
        TERM: 'xterm-256color',
        SLIPWAY_URL: stack.apiUrl(),
        SLIPWAY_TOKEN: stack.token,
        ...env,
      },
    });
    let text = '';
    pty.onData((data) => (text += data));
    const ended = new Promise<number>((resolve) => pty.onExit(({ exitCode }) => resolve(exitCode)));
    const says = (what: string | RegExp) =>
      until(
        `it says ${what}`,
        async () => (typeof what === 'string' ? text.includes(what) : what.test(text)),
        60_000,
        () => text,
      );
    return { pty, text: () => text, says, ended };
  };
  const shown = async (...given: Parameters<typeof type>): Promise<string> => {
    const { ended, text } = type(...given);
    await ended;
    return text();
  };
  const sim = (id: string, args: Record<string, unknown> = {}) => ({
    model: { id },
    runtime: { target: 'local', engine: 'sim', args },
  });
  const rollOut = async (model: string, args: Record<string, unknown> = {}) => {
    const file = `${model}.json`;
    writeFileSync(path.join(home, file), JSON.stringify(sim(model, args)));
    return type(['rollouts', 'create', 'chat', '--revision-file', file, '--strategy', 'immediate', '--wait']);
  };

  beforeAll(async () => {
    home = mkdtempSync(path.join(tmpdir(), 'slipway-terminal-'));
    stack = await Stack.start({ gateway: true });
    await stack.slipway().deployments.create({ name: 'chat', labels: { note: 'x'.repeat(60) } });
  });
  afterAll(async () => {
    await stack?.stop();
    rmSync(home, { recursive: true, force: true });
  });

  it('has colours in a terminal that shows them, and none in others', async () => {
    const list = ['deployments', 'list'];
    expect(await shown(list)).toContain('\u001b[');
    for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }, { CI: 'true' }])
      expect([env, await shown(list, env as unknown as Record<string, string>)]).toEqual([
        env,
        expect.not.stringContaining('\u001b'),
      ]);
  });

  it('continues through a resize to the end', async () => {
    const { pty, says, ended } = await rollOut('one', { startup_ms: 2_000 });
    await says(/await_ready/);
    pty.resize(40, 10);
    pty.resize(200, 50);
    expect(await ended).toBe(0);
  });

  it('cuts long texts in a narrow terminal, but never values that people copy', async () => {
    await stack
      .slipway()
      .autopilot.plans.create({
        deployment: 'chat',
        summary: `two replicas ${'and more '.repeat(20)}`,
        rollout: { spec_patch: { scaling: { min_replicas: 2 } } },
      });
    const plain = { NO_COLOR: '1' };
    const narrow = (await shown(['plans', 'list'], plain, 150)).trimEnd().split(/\r?\n/);
    expect(narrow).toHaveLength(2);
    expect(narrow[1]).toMatch(/^plan_[0-9a-f]{32} .*…$/);
    for (const line of narrow) expect(line.length).toBeLessThanOrEqual(150);
    expect(await shown(['plans', 'list'], plain, 400)).not.toContain('…');
    expect(await shown(['plans', 'list'], plain, 20)).toMatch(/plan_[0-9a-f]{32}/);
  });

  it('ends at Ctrl-C, prints how to come back, and the work continues', async () => {
    const { pty, says, ended, text } = await rollOut('later', { startup_ms: 3_000 });
    await says(/await_ready/);
    pty.write(CTRL_C);
    expect(await ended).toBe(2);
    const [, id] = /slipway operations wait (op_\w+)/.exec(text()) ?? [];
    expect((await stack.operation(id!)).status).toBe('succeeded');
  });

  it('talks to a model: Ctrl-C ends an answer, and Ctrl-D the conversation', async () => {
    const { deployments, operations } = stack.slipway();
    await deployments.create({ name: 'talk' });
    // Slow enough to be interrupted before its end.
    const spec = sim('slow', { itl_ms: 200 });
    const { operation } = await deployments.rollouts.create('talk', { spec, strategy: { type: 'immediate' } });
    await operations.wait(operation.id);
    const env = { SLIPWAY_GATEWAY_URL: `${stack.gatewayUrl}/v1` };
    const { pty, says, ended, text } = type(['chat', 'talk', '--max-tokens', '500'], env);
    await says('>>> ');
    pty.write('hello\r');
    await says('simulated');
    pty.write(CTRL_C);
    await says(/simulated[^]*>>> /);
    pty.write('/nonsense\r');
    await says('is not a command');
    pty.write('\u0004');
    expect([await ended, text()]).toEqual([0, expect.not.stringContaining('Error')]);
    const piped = await shown(['chat', 'nobody', 'hello'], env);
    expect(piped).toContain('code: model_not_found');
  });

  it('asks for the strategy of a rollout that has none', async () => {
    const { deployments } = stack.slipway();
    await deployments.create({ name: 'asked' });
    writeFileSync(path.join(home, 'asked.json'), JSON.stringify(sim('one')));
    const { pty, says, ended } = type(['rollouts', 'create', 'asked', '--revision-file', 'asked.json', '--wait']);
    await says('Strategy [candidate]: ');
    pty.write('immediate\r');
    expect(await ended).toBe(0);
    // A candidate would be ready, but not active.
    expect((await deployments.get('asked')).active_revision).toBe('asked-00001');
  });

  it('gives a canary into the hands of a person, and --wait ends with a code of its own', async () => {
    const { deployments, operations } = stack.slipway();
    await deployments.create({ name: 'hands' });
    const strategy = { type: 'immediate' } as const;
    const { operation } = await deployments.rollouts.create('hands', { spec: sim('one'), strategy });
    await operations.wait(operation.id);
    const waits = (what: string) =>
      until(`hands waits for ${what}`, async () => (await deployments.get('hands')).waiting_for === what);
    const canary = ['--patch', '{"model":{"id":"two"}}', '--strategy', 'canary', '--steps', '50:600,100:600'];
    const created = type(['rollouts', 'create', 'hands', ...canary, '--analysis', 'none', '--wait']);
    await waits('soak');
    await shown(['rollouts', 'pause', 'hands', '--reason', 'lunch']);
    expect(await created.ended).toBe(8);
    expect(created.text()).toMatch(
      /hands waits: the rollout is paused.*: lunch\.\s+To continue: slipway rollouts resume hands/,
    );
    expect(await shown(['deployments', 'get', 'hands'])).toContain('slipway rollouts resume hands');
    expect(await type(['operations', 'wait', 'hands']).ended).toBe(8);
    await shown(['rollouts', 'resume', 'hands']);
    await waits('soak');
    expect(await shown(['rollouts', 'list', 'hands'])).toMatch(/soak .*50%/);
    await shown(['rollouts', 'promote', 'hands', '--full', '--reason', 'after lunch']);
    expect(await type(['operations', 'wait', 'hands']).ended).toBe(0);
    expect(await shown(['rollouts', 'history', 'hands'])).toMatch(/canary +promoted/);
  });

  it('asks for the name before it deletes, and accepts no other name and no Ctrl-C', async () => {
    await stack.slipway().deployments.create({ name: 'spare' });
    for (const [answer, code] of [
      ['chat\r', 2],
      [CTRL_C, 2],
      ['spare\r', 0],
    ] as const) {
      const { pty, says, ended } = type(['deployments', 'delete', 'spare']);
      await says('Type its name');
      pty.write(answer);
      expect([answer, await ended]).toEqual([answer, code]);
    }
  });

  (isInstalled('zsh') ? it : it.skip)('completes words in zsh, with files if there are no names', async () => {
    writeFileSync(path.join(home, 'a-file.yaml'), 'nothing: here\n');
    const PATH = `${path.join(ROOT, 'node_modules/.bin')}:${path.dirname(process.execPath)}:${process.env['PATH']}`;
    const { pty, says, ended } = open('zsh', ['-f', '-i'], { PATH, TERM: 'dumb', PS1: '% ' });
    pty.write('autoload -Uz compinit && compinit -u -D && source <(slipway completion zsh) && echo is-"ready"\r');
    await says('is-ready');
    pty.write('slipway deployments get ch\t');
    await says(/get chat/);
    pty.write('-o name\r');
    await says(/\r\nchat\r\n/);
    pty.write('slipway operations list --status=succ\t');
    await says(/--status=succeeded/);
    pty.write('\r');
    pty.write('slipway apply -f a-f\t');
    await says(/-f a-file\.yaml/);
    pty.write('\r');
    await says(/a-file.yaml:1: /);
    pty.write('exit\r');
    expect(await ended).toBe(1);
  });

  (isInstalled('fish') ? it : it.skip)('completes words in fish, with files if there are no names', async () => {
    writeFileSync(path.join(home, 'a-file.yaml'), 'nothing: here\n');
    const PATH = `${path.join(ROOT, 'node_modules/.bin')}:${path.dirname(process.execPath)}:${process.env['PATH']}`;
    const { pty, says, ended } = open('fish', ['--no-config', '--interactive'], { PATH, TERM: 'dumb' });
    pty.write('slipway completion fish | source && echo is-"ready"\r');
    await says('is-ready');
    pty.write('slipway deployments get ch\t');
    await says(/get chat/);
    pty.write('-o name\r');
    await says(/\nchat\r?\n/);
    pty.write('slipway apply -f a-f\t');
    await says(/-f a-file\.yaml/);
    pty.write('\r');
    await says(/a-file.yaml:1: /);
    pty.write('exit 3\r');
    expect(await ended).toBe(3);
  });

  it('shows nothing of the token that is typed', async () => {
    const { pty, says, ended, text } = type(['login', 'here', '--url', stack.apiUrl()], {
      SLIPWAY_TOKEN: '',
      SLIPWAY_URL: '',
    });
    await says('Token: ');
    pty.write(`${stack.token}\r`);
    expect([await ended, text()]).toEqual([0, expect.stringContaining('Logged in. Saved as context here')]);
    expect(text()).not.toContain(stack.token.slice(0, 12));
  });
});

import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { parse } from './arguments.mjs';
import { serve } from './server.mjs';

// A model server without a model: node main.mjs <engine> <behaviour.json> [arguments of the engine]
//
// It behaves as the table in `engines/<engine>.mjs` describes. The behaviour file may contain: `load_ms`, `load_until`
// (a file whose creation ends the loading), `chunks` and `chunk_ms` of a stream, `fail` (a key of the engine's
// `failures`), `crash_after_ms` counted from when it is ready, `serves`, and `models` of an adopted server.

if (process.argv[2] === 'child') runChild(process.argv[3], process.argv[4] === 'true');
else await runEngine();

async function runEngine() {
  const [, , name, file, ...argv] = process.argv;
  const { engine } = await import(`./engines/${name}.mjs`);
  const behaviour = JSON.parse(readFileSync(file, 'utf8'));
  const args = argumentsOf(engine, argv);
  const [host, port] = addressOf(engine, args);
  const state = {
    phase: 'loading',
    running: 0,
    args,
    env: process.env,
    behaviour,
    names: engine.names(args, behaviour),
  };
  const say = (line) =>
    process.stderr.write(
      `${line.replace('{host}', host).replace('{port}', port).replace('{model}', state.names[0])}\n`,
    );
  const end = (code, lines = []) => {
    lines.forEach(say);
    process.exit(code);
  };
  const children = (engine.children ?? []).map((child) => startChild(child, () => childDied(child)));
  // For tests that check which processes are left.
  appendFileSync(`${file}.pids`, [process, ...children].map(({ pid }) => `${pid}\n`).join(''));
  // A signal to the whole group may end a child before this process receives it.
  let canDrain = true;
  const childDied = ({ endsAll, breaksDrain }) => {
    if (breaksDrain) canDrain = false;
    if (endsAll || (!canDrain && state.phase === 'exiting')) end(1, [`a child ended: ${name} cannot continue`]);
  };
  const server = serve(engine, state);
  // After a SIGKILL of this process, only children end for which the engine asked the kernel for it. A driver has to
  // find the others.
  process.on('SIGTERM', () => void stop());

  async function listen() {
    await new Promise((listening, failed) => server.once('error', failed).listen(port, host, listening));
  }
  async function load() {
    const { load_ms: loadMs = 50, load_until: file } = behaviour;
    if (file === undefined) await pause(loadMs);
    else while (!existsSync(file)) await pause(10);
    const failure = engine.failures[behaviour.fail];
    if (failure) end(failure.code, failure.lines);
  }
  async function stop() {
    if (state.phase === 'exiting') return;
    const wasReady = state.phase === 'ready';
    state.phase = 'exiting';
    const until = wasReady ? performance.now() + engine.drainSeconds(args) * 1_000 : 0;
    while (canDrain && state.running > 0 && performance.now() < until) await pause(engine.pollMs ?? 20);
    if (wasReady || !engine.orphansWhileLoading) for (const child of children) child.kill('SIGKILL');
    process.exit(0);
  }

  say(`${name} ${argv.join(' ')}`);
  try {
    if (engine.loading === 'refused') await load();
    await listen();
    if (engine.loading === 'at first request') state.onFirst = once(load);
    else if (engine.loading !== 'refused') await load();
  } catch {
    const { code, lines } = engine.failures.port_in_use ?? { code: 1, lines: ['address already in use'] };
    return end(code, lines);
  }
  if (state.phase === 'exiting') return undefined;
  state.phase = 'ready';
  say(engine.ready);
  // A crash leaves the children running, because no stop was requested.
  if (behaviour.crash_after_ms !== undefined) setTimeout(() => end(engine.crashCode), behaviour.crash_after_ms);
  return undefined;
}

function argumentsOf({ syntax }, argv) {
  try {
    return parse(syntax, argv);
  } catch (refused) {
    process.stderr.write(`${refused.message}\n`);
    process.exit(refused.code ?? 1);
  }
}

function addressOf({ address, host = '--host', port = '--port' }, args) {
  if (address) return address(process.env).split(':');
  return [args[host] ?? '127.0.0.1', args[port]];
}

/** A child that renames itself loses its environment, unless SPT_NOENV is set (setproctitle). */
function startChild({ name, ownGroup = false, renames = false, endsWithParent = false }, onExit) {
  const env = renames && !process.env.SPT_NOENV ? {} : process.env;
  const child = spawn(process.execPath, [process.argv[1], 'child', name, String(endsWithParent)], {
    detached: ownGroup,
    env,
    stdio: [endsWithParent ? 'pipe' : 'ignore', 'ignore', 'ignore'],
  });
  return child.on('exit', onExit);
}

/** A worker of an engine holds device memory until it ends; a signal ends it at once. */
function runChild(name, endsWithParent) {
  process.title = name;
  // On Linux, this is PR_SET_PDEATHSIG.
  if (endsWithParent) process.stdin.resume().on('end', () => process.exit(1));
  setInterval(() => undefined, 60_000);
}

function pause(ms) {
  return new Promise((done) => setTimeout(done, ms));
}

function once(work) {
  let done;
  return () => (done ??= work());
}

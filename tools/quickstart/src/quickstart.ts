import { createWriteStream, existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { childEnvironment } from '@slipway/platform-config';
import { demonstrate } from './demo/demo.js';
import { Narrator } from './demo/narrator.js';
import { onStopRequest, surviveClosedPipes, tokenNotice } from './launcher.js';
import { startStack, StackError, type Stack } from './stack.js';

// `npm run quickstart`: the stack and its main job before the reader's eyes. `-- --once` ends after the job.
surviveClosedPipes();
const isOnce = process.argv.includes('--once');
const narrator = new Narrator(process.stdout);
const startedAt = performance.now();

const home = path.resolve(childEnvironment()['SLIPWAY_HOME'] || '.slipway');
const logFile = path.join(home, 'quickstart.log');
const early: string[] = [];
let writeLog = (line: string): void => void early.push(line);

let stack: Stack | undefined;
let isAskedToStop = false;
onStopRequest(() => {
  isAskedToStop = true;
  if (stack) void end(0);
});

try {
  narrator.passing('Starting Postgres, api, worker and gateway …');
  stack = await startStack({
    log: (line) => {
      writeLog(line);
      // The reader must learn of a port that is not the documented one; the rest is for the log.
      if (/^slipway \| port /.test(line)) narrator.line(line.replace('slipway | ', 'Note: '));
    },
  });
  openLog();
  if (isAskedToStop) await end(0);
  await stack.ready;
  narrator.line(
    `Ready after ${((performance.now() - startedAt) / 1000).toFixed(1)} s: api ${stack.apiUrl}, gateway ${stack.gatewayUrl}`,
  );
  if (stack.token.isNew) narrator.line(tokenNotice(stack.token).trimEnd());
  const deployment = await demonstrate({ ...stack, token: stack.token.value, narrator });
  if (isOnce) {
    narrator.heading(`Done in ${((performance.now() - startedAt) / 1000).toFixed(1)} s. Stopping.`);
    await end(0);
  }
  whereNext(stack, deployment);
} catch (error) {
  if (isAskedToStop && !stack) process.exit(0);
  if (!isAskedToStop) {
    narrator.line(`\nThe quickstart failed: ${error instanceof Error ? error.message : String(error)}`);
    if (!(error instanceof StackError)) narrator.line(`The log of the stack: ${logFile}`);
    else for (const line of early) process.stderr.write(`${line}\n`);
    await end(error instanceof StackError ? error.exitCode : 1);
  }
}

function whereNext({ apiUrl, gatewayUrl, token }: Stack, deployment: string): void {
  const bearer = token.file
    ? `$(cat ${path.relative(process.cwd(), token.file) || token.file})`
    : '$SLIPWAY_BOOTSTRAP_TOKEN';
  narrator.heading('Where to look next');
  narrator.line(`  The API, to read and to try:   ${apiUrl}/docs   (OpenAPI: ${apiUrl}/openapi.json)`);
  narrator.line(`  Any OpenAI client:             base URL ${gatewayUrl}/v1, model "${deployment}"`);
  narrator.line(
    `  What happened, as events:      curl -H "Authorization: Bearer ${bearer}" ${apiUrl}/api/v1/deployments/${deployment}/events`,
  );
  narrator.line(`  Logs of the processes:         ${path.relative(process.cwd(), logFile)}`);
  narrator.line('  Execution targets of your own: slipway.config.yaml, see README.md');
  narrator.line('\nThe stack is running. Ctrl-C stops it.');
}

function openLog(): void {
  if (!existsSync(home)) mkdirSync(home, { recursive: true });
  const file = createWriteStream(logFile, { flags: 'w', mode: 0o600 });
  file.on('error', () => undefined);
  writeLog = (line) => void file.write(`${line}\n`);
  for (const line of early) writeLog(line);
}

async function end(exitCode: number): Promise<void> {
  await stack?.stop();
  process.exit(exitCode);
}

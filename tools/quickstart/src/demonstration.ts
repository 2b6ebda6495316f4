import path from 'node:path';
import { ConfigError, childEnvironment, EXIT_CONFIG, StartupError } from '@slipway/platform-config';
import { demonstrate, demoClient, LABELS } from './demo/demo.js';
import { failureText } from './demo/failure-text.js';
import { Narrator } from './demo/narrator.js';
import { onStopRequest, surviveClosedPipes, tokenNotice } from './launcher.js';
import { startStack, type Stack, type StackOptions } from './stack.js';
import { demonstratePlan, planDemoTimes } from './with-plan/plan-demo.js';
import { RequestLoad } from './with-plan/request-load.js';

export interface DemonstrationFlags {
  /** Whether it ends after the job. */
  isOnce: boolean;
  /** Whether it continues with a plan that the reader approves and executes. */
  isWithPlan?: boolean;
}

const FLAGS = ['--once', '--with-plan'];

/** @throws StartupError that names each unknown argument */
export function readFlags(args: readonly string[]): DemonstrationFlags {
  const unknown = args.filter((one) => !FLAGS.includes(one));
  if (unknown.length > 0)
    throw new StartupError(
      `The quickstart does not know ${unknown.map((one) => JSON.stringify(one)).join(', ')}. Its arguments are ${FLAGS.join(' and ')}, such as: npm run quickstart -- --with-plan`,
      EXIT_CONFIG,
    );
  return { isOnce: args.includes('--once'), isWithPlan: args.includes('--with-plan') };
}

/** Limit for the ordinary demonstration, whatever it waits for. */
const LONGEST_MS = 10 * 60_000;

/**
 * `npm run quickstart`: starts the stack, shows its main job, and then keeps the stack running until it is stopped.
 * Ends the process: 0 after a stop, 78 for an invalid configuration, 1 after any other failure.
 */
export async function runDemonstration(options: Pick<StackOptions, 'entries'> & DemonstrationFlags): Promise<void> {
  surviveClosedPipes();
  const narrator = new Narrator(process.stdout);
  const startedAt = performance.now();
  const seconds = (): string => ((performance.now() - startedAt) / 1000).toFixed(1);
  const asked = new AbortController();
  let stack: Stack | undefined;
  let logFile: string | undefined;
  const end = async (exitCode: number): Promise<never> => {
    await stack?.stop();
    process.exit(exitCode);
  };
  onStopRequest(
    () => {
      asked.abort();
      if (stack) void end(0);
    },
    () => stack?.reload(),
  );

  try {
    narrator.passing('Starting Postgres, api, worker and gateway …');
    stack = await startStack({
      ...options,
      log: (line) => {
        // The reader must learn of a port other than the documented one, and of a wait; the rest is only for the log.
        if (/^slipway \| (port |.* Waiting for it)/.test(line)) narrator.line(line.replace('slipway | ', 'Note: '));
      },
      onLogFile: (file) => (logFile = file),
      signal: asked.signal,
    });
    if (asked.signal.aborted) await end(0);
    await stack.ready;
    narrator.line(`Ready after ${seconds()} s: api ${stack.apiUrl}, gateway ${stack.gatewayUrl}`);
    if (stack.token.isNew) narrator.line(tokenNotice(stack.token).trimEnd());
    const deployment = await limitTime(demonstrate({ ...stack, token: stack.token.value, narrator }));
    if (options.isWithPlan) await continueWithPlan(stack, narrator, options.isOnce, asked.signal);
    if (options.isOnce) {
      narrator.heading(`Done in ${seconds()} s. Stopping.`);
      await end(0);
    }
    narrator.heading(`Done in ${seconds()} s. Where to look next`);
    for (const line of nextStepLines(stack, deployment, logFile ?? '')) narrator.line(line);
  } catch (error) {
    if (asked.signal.aborted && !stack) process.exit(0);
    if (asked.signal.aborted) return;
    narrator.line(`\nThe quickstart failed: ${failureText(error)}`);
    if (logFile) narrator.line(`See the output of the processes in ${logFile}`);
    if (error instanceof ConfigError) await end(EXIT_CONFIG);
    await end(error instanceof StartupError ? error.exitCode : 1);
  }
}

async function continueWithPlan(stack: Stack, narrator: Narrator, isOnce: boolean, signal: AbortSignal): Promise<void> {
  const { apiUrl, gatewayUrl } = stack;
  const token = stack.token.value;
  const name = `quickstart-plan-${Date.now().toString(36)}`;
  await demonstratePlan({
    slipway: demoClient({ apiUrl, token }),
    narrator,
    load: new RequestLoad({ gatewayUrl, token, model: name }),
    name,
    labels: LABELS,
    consoleUrl: hasConsole() ? apiUrl : undefined,
    times: planDemoTimes(isOnce),
    signal,
  });
}

function hasConsole(): boolean {
  return childEnvironment()['SLIPWAY_CONSOLE'] !== 'off';
}

function limitTime<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`it did not finish within ${LONGEST_MS / 60_000} minutes`)),
      LONGEST_MS,
    );
    void work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Three commands with `slipway`, which finds this stack by itself. */
export function commandsToTry(deployment: string): string[] {
  return [
    `npx slipway deployments get ${deployment}`,
    `npx slipway rollouts create ${deployment} --patch '{"model":{"id":"llama-next"}}' --strategy canary --steps 50:5,100:5 --analysis none --wait`,
    `npx slipway events ${deployment} --follow`,
  ];
}

/** Commands that can be pasted into the shell that started this process. */
export function nextStepLines({ apiUrl, gatewayUrl, token }: Stack, deployment: string, logFile: string): string[] {
  const bearer = token.file ? `$(cat ${quotePath(token.file)})` : '$SLIPWAY_BOOTSTRAP_TOKEN';
  const key = token.file ? `the token in ${shortPath(token.file)}` : 'your token';
  return [
    ...(hasConsole() ? [`  Console, in a browser:         ${apiUrl}/   (sign in with ${key})`] : []),
    `  API documentation:             ${apiUrl}/docs   (OpenAPI: ${apiUrl}/openapi.json)`,
    `  Any OpenAI client:             base URL ${gatewayUrl}/v1, model "${deployment}", key: the token`,
    `  Events of the deployment:      curl -H "Authorization: Bearer ${bearer}" ${apiUrl}/api/v1/deployments/${deployment}/events`,
    `  Logs of the processes:         ${shortPath(logFile)}`,
    '  Your own execution targets:    slipway.config.yaml, see README.md',
    '  Next, in another shell, try:',
    ...commandsToTry(deployment).map((line) => `    ${line}`),
    '\nThe stack is running. Ctrl-C stops it.',
  ];
}

/** npm runs scripts in the folder of the package, regardless of the user's current folder. */
function shortPath(file: string): string {
  const relative = path.relative(childEnvironment()['INIT_CWD'] ?? process.cwd(), file);
  return relative && !relative.startsWith('..') ? relative : file;
}

function quotePath(file: string): string {
  const name = shortPath(file);
  return /^[\w./@%+,:=-]+$/.test(name) && !name.startsWith('-') ? name : `'${name.replaceAll("'", `'\\''`)}'`;
}

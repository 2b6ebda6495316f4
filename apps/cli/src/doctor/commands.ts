import type { Command } from 'commander';
import { serverOf } from '../contexts.js';
import { EXIT } from '../exit-codes.js';
import { isLoopback } from '../servers/addresses.js';
import { uncheckedGatewayOf } from '../servers/gateway-address.js';
import type { Session } from '../session.js';
import type { View } from '../table.js';
import { harmless, painted, type Colour } from '../terminal.js';
import type { Finding, Surroundings } from './check.js';

const FINDINGS: View = {
  name: 'check',
  columns: [
    { title: 'CHECK', of: 'check' },
    { title: 'VERDICT', of: 'verdict' },
    { title: 'MESSAGE', of: 'message', isText: true },
    { title: 'REMEDY', of: 'remedy' },
  ],
};

const SHOWN: Record<Finding['verdict'], readonly [string, Colour]> = {
  ok: ['ok     ', 'green'],
  skipped: ['-      ', 'grey'],
  warning: ['warning', 'yellow'],
  fault: ['FAULT  ', 'red'],
};

/** `doctor`: checks the usual problems of a new user. */
export function doctor(program: Command, session: Session): void {
  program
    .command('doctor')
    .summary('Check this machine and the server for faults, and suggest fixes')
    .description(
      'Check this machine and the server for faults, and suggest fixes. Needs neither a server nor a login. Exit code 1: a check found a fault.',
    )
    .addHelpText('after', ['', 'Examples:', '  slipway doctor', '  slipway doctor -o json'].join('\n'))
    .action(() => run(session));
}

async function run(session: Session): Promise<void> {
  const [{ findingsOf }, { HOST_CHECKS }, { STORE_CHECKS }, { SERVER_CHECKS }, { CONFIGURATION_CHECKS }] =
    await Promise.all([
      import('./check.js'),
      import('./host-checks.js'),
      import('./store-checks.js'),
      import('./server-checks.js'),
      import('./configuration-checks.js'),
    ]);
  const { signal } = session;
  const around = await surroundingsOf(session);
  const findings = [
    ...(await findingsOf([...HOST_CHECKS, ...STORE_CHECKS, ...SERVER_CHECKS], around, { signal })),
    // These checks run apart: checking a file keeps the processor busy, and answers would seem to be late.
    ...(await findingsOf(CONFIGURATION_CHECKS, around, { signal })),
  ];
  signal.throwIfAborted();
  if (session.output.format === 'table') for (const finding of findings) tell(session, finding);
  else await session.output.print(findings, FINDINGS);
  if (findings.some(({ verdict }) => verdict === 'fault')) session.exitCode = EXIT.failed;
}

function tell({ output, terminal }: Session, { check, verdict, message, remedy }: Finding): void {
  const [word, colour] = SHOWN[verdict];
  output.data(
    `${terminal.hasColour('stdout') ? painted(word, colour) : word}  ${check.padEnd(14)} ${harmless(message)}`,
  );
  if (remedy) output.data(`${' '.repeat(24)}$ ${harmless(remedy)}`);
}

export async function surroundingsOf(session: Session): Promise<Surroundings> {
  const { env, cwd } = session;
  const { url: apiUrl, gatewayUrl: known, isRunning } = addressesOf(session);
  const isLocal = isLoopback(apiUrl);
  const gatewayUrl = await uncheckedGatewayOf(session, known);
  return {
    env,
    cwd,
    apiUrl,
    ...(gatewayUrl && { gatewayUrl }),
    isLocal,
    isRunning,
    fetch: session.fetch,
    client: () => session.client(),
  };
}

/** Works even if the user is not logged in. */
function addressesOf(session: Session): { url: string; gatewayUrl?: string; isRunning: boolean } {
  try {
    // A stack that runs has written its addresses.
    const { url, gatewayUrl } = session.chosen();
    return { url, gatewayUrl, isRunning: gatewayUrl !== undefined };
  } catch {
    const { SLIPWAY_URL: named, SLIPWAY_API_PORT: port } = session.env;
    const url = named ? serverOf(named) : `http://127.0.0.1:${port || 7070}`;
    if (named && URL.canParse(url)) return { url, isRunning: false };
    session.localUrl = URL.canParse(url) ? url : 'http://127.0.0.1:7070';
    return { url: session.localUrl, isRunning: false };
  }
}

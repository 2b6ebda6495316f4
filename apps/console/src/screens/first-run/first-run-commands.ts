import { withoutTrailingSlashes } from '@slipway/sdk';
import { shellLine } from '../../ui/text/shell-line.js';

/** Marks the deployment that this page made, so that the page finds it again. */
export const FIRST_RUN_LABELS = { 'first-run': 'yes' };

/** With more deployments than this, a person is only playing. */
const MOST_NAMES = 20;

/** `first`, `first-2`, …: the names to try, in order. */
export const firstNames = (): string[] => [
  'first',
  ...Array.from({ length: MOST_NAMES - 1 }, (_, index) => `first-${index + 2}`),
];

export const createBody = (name: string) => ({ name, labels: FIRST_RUN_LABELS });

export const rolloutBody = (target: string) => ({
  spec: { model: { id: 'simulated' }, runtime: { target, engine: 'sim' } },
  strategy: { type: 'immediate' as const },
});

export const firstChatBody = (model: string, question: string) => ({
  model,
  messages: [{ role: 'user', content: question }],
  stream: true,
  stream_options: { include_usage: true },
});

export const createFirstLine = (name: string): string =>
  shellLine('slipway', 'deployments', 'create', name, '--labels', 'first-run=yes');

/** The spec is sent through a pipe, because the command takes a file. */
export function rolloutLine(name: string, target: string): string {
  const { spec, strategy } = rolloutBody(target);
  const create = ['slipway', 'rollouts', 'create', name, '--revision-file', '-', '--strategy', strategy.type, '--wait'];
  return `${shellLine('echo', JSON.stringify(spec))} | ${shellLine(...create)}`;
}

/** Uses the gateway's own address: it needs a token, not the session of this page. */
export function chatCurl(gateway: string, name: string, question: string): string {
  const root = withoutTrailingSlashes(gateway).replace(/\/v1$/, '');
  return [
    shellLine('curl', '-N', `${root}/v1/chat/completions`),
    `-H "authorization: Bearer $SLIPWAY_TOKEN"`,
    shellLine('-H', 'content-type: application/json'),
    shellLine('-d', JSON.stringify(firstChatBody(name, question))),
  ].join(' \\\n  ');
}

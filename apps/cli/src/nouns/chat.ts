import { CliError, EXIT } from '../exit-codes.js';
import type { ChatRequest, Message } from '../chat/model-answer.js';
import { readText } from '../input-files.js';
import type { Session } from '../session.js';
import type { CommandInput, RunVerb } from './verb.js';

const ANSWER = { name: 'choices.0.message.content', columns: [] };

export const chat: RunVerb = {
  verb: 'chat',
  args: '<deployment> [message...]',
  summary: 'Talk to a model: with one message, with stdin, or in a conversation on a terminal',
  examples: [
    'slipway chat chat "Why is the sky blue?"',
    'slipway chat chat - < question.txt',
    'slipway chat acme/chat hello --system "Answer in one word" --jq .usage',
  ],
  flags: [
    { flags: '--system <text>', summary: 'instructions for the model, before the conversation' },
    { flags: '--max-tokens <tokens>', summary: 'longest length of an answer', as: 'number' },
    { flags: '--temperature <number>', summary: 'how much answers vary, from 0', as: 'number' },
    {
      flags: '--gateway <url>',
      summary: 'URL of the gateway (default: SLIPWAY_GATEWAY_URL, or the one that the api names)',
    },
  ],
  run: talk,
};

async function talk(session: Session, { args: [model = '', ...words], flags }: CommandInput): Promise<void> {
  const {
    system,
    maxTokens,
    temperature,
    gateway: given,
  } = flags as { system?: string; maxTokens?: number; temperature?: number; gateway?: string };
  const [{ gatewayOf }, { converse, writeAnswer }, { wholeAnswer }] = await Promise.all([
    import('../servers/gateway-address.js'),
    import('../chat/conversation.js'),
    import('../chat/model-answer.js'),
  ]);
  const { isInteractive } = session.terminal;
  const isConversation = words.length === 0 && isInteractive;
  const isForPrograms = ['json', 'yaml'].includes(session.output.format);
  if (isConversation && isForPrograms)
    throw new CliError('A conversation has no JSON.', EXIT.failed, 'Pass the message as an argument, or on stdin.');
  const { token } = session.chosen();
  const gateway = { url: await gatewayOf(session, given), token };
  const told: Message[] = system === undefined ? [] : [{ role: 'system', content: system }];
  const request: ChatRequest = {
    model,
    messages: told,
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(temperature !== undefined && { temperature }),
  };
  if (isConversation) return converse(session, gateway, request);
  const content = await messageOf(session, words);
  const asked: ChatRequest = { ...request, messages: [...told, { role: 'user', content }] };
  if (isForPrograms) return session.output.print(await wholeAnswer(session, gateway, asked), ANSWER);
  await writeAnswer(session, gateway, asked, session.signal);
  if (session.signal.aborted) session.exitCode = EXIT.cancelled;
}

/** The words of the command, or stdin. */
async function messageOf(session: Session, words: readonly string[]): Promise<string> {
  const isStdin = words.length === 0 || (words.length === 1 && words[0] === '-');
  const content = (isStdin ? await readText('-', session) : words.join(' ')).trim();
  if (content === '')
    throw new CliError(
      'The message is empty.',
      EXIT.failed,
      'Pass it as an argument, or on stdin: slipway chat <deployment> "Why is the sky blue?"',
    );
  return content;
}

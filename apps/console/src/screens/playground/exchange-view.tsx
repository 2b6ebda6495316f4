import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Chip, type Tone } from '../../ui/chip.js';
import { CopyButton } from '../../ui/copy.js';
import { ErrorNote } from '../../ui/error-note.js';
import { lengthText } from '../../ui/text/time-text.js';
import { Waiting } from '../../ui/waiting.js';
import { numbersOf } from '../../api/answer-numbers.js';
import { isSlug } from './models.js';
import type { Exchange } from './use-conversation.js';

const TONES: Record<Exchange['state'], Tone> = {
  waiting: 'info',
  streaming: 'info',
  done: 'good',
  stopped: 'warn',
  failed: 'bad',
};

/** Explanations for words of the api that need one. */
const FINISHES: Record<string, string> = {
  length: 'length: max_tokens was reached',
  content_filter: 'content_filter: the engine withheld some content',
};

export function ExchangeView({ exchange }: { exchange: Exchange }) {
  const { question, answer, state, failure, model } = exchange;
  return (
    <article aria-label={`Question ${exchange.id}`} className="space-y-2">
      <p className="ml-auto w-fit max-w-[85%] rounded-lg bg-accent-soft px-3 py-2 text-sm break-words whitespace-pre-wrap">
        {question}
      </p>
      <div className="max-w-full space-y-2">
        <p className="flex flex-wrap items-center gap-2 text-xs text-soft">
          <span className="wrap-anywhere">{model}</span>
          <Chip word={state} tone={TONES[state]} />
          {answer.text !== '' && <CopyButton text={answer.text} label="Copy answer" />}
        </p>
        {state === 'waiting' && <Waiting for="the first token" />}
        {answer.reasoning !== '' && (
          <details className="text-sm text-soft">
            <summary>Reasoning</summary>
            <p className="break-words whitespace-pre-wrap">{answer.reasoning}</p>
          </details>
        )}
        {answer.text !== '' && <p className="text-sm break-words whitespace-pre-wrap">{answer.text}</p>}
        {failure !== undefined && <ErrorNote error={failure} />}
        {exchange.headers && <ExchangeFacts exchange={exchange} />}
      </div>
    </article>
  );
}

function ExchangeFacts({ exchange: { model, headers, answer, sentAt, endedAt } }: { exchange: Exchange }) {
  const { ttft, tokensPerSecond, isEstimate } = numbersOf(answer, sentAt);
  const about = isEstimate ? 'about ' : '';
  return (
    <dl className="flex flex-wrap gap-x-4 gap-y-1 rounded-md bg-sunken px-3 py-2 text-xs">
      {headers?.revision && !isSlug(model) && (
        <Fact name="Revision">
          <Link to="/deployments/$name" params={{ name: model }} className="underline">
            {headers.revision}
          </Link>
        </Fact>
      )}
      {ttft !== undefined && <Fact name="TTFT">{lengthText(ttft)}</Fact>}
      {tokensPerSecond !== undefined && <Fact name="Tokens/s">{`${about}${tokensPerSecond.toFixed(1)}`}</Fact>}
      {endedAt !== undefined && <Fact name="Duration">{lengthText(endedAt - sentAt)}</Fact>}
      {headers?.held_ms && <Fact name="Waited at the gateway">{lengthText(Number(headers.held_ms))}</Fact>}
      {answer.usage && (
        <Fact name="Tokens">{`${answer.usage.prompt_tokens} in, ${answer.usage.completion_tokens} out`}</Fact>
      )}
      {answer.finish_reason && (
        <Fact name="Finish reason">
          {Object.hasOwn(FINISHES, answer.finish_reason) ? FINISHES[answer.finish_reason] : answer.finish_reason}
        </Fact>
      )}
      {headers?.affinity && <Fact name="Affinity">{headers.affinity}</Fact>}
      {headers?.passport && <Fact name="Passport">{headers.passport}</Fact>}
      {headers?.request_id && <Fact name="Request">{headers.request_id}</Fact>}
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex min-w-0 gap-1">
      <dt className="text-soft">{name}</dt>
      <dd className="min-w-0 font-medium wrap-anywhere">{children}</dd>
    </div>
  );
}

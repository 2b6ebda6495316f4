import { isSlipwayError } from '@slipway/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { GATEWAY_ROOT, sessionFetch } from '../../api/client.js';
import { sessionQuery } from '../../api/who.js';
import { answersOf, emptyAnswer, type ChatAnswer } from '../../api/chat-answer.js';
import { refusalOf } from '../../api/chat-failure.js';
import { chatBody, type ChatSettings, type Message } from './chat-request.js';

/** All of a conversation is sent with each question, and rendered. */
export const MOST_EXCHANGES = 40;

/** The gateway's headers that the page shows. */
export interface AnswerHeaders {
  revision: string | null;
  passport: string | null;
  affinity: string | null;
  request_id: string | null;
  held_ms: string | null;
}

export interface Exchange {
  id: number;
  model: string;
  question: string;
  state: 'waiting' | 'streaming' | 'done' | 'stopped' | 'failed';
  /** Of `performance.now()`. */
  sentAt: number;
  endedAt?: number;
  headers?: AnswerHeaders;
  answer: ChatAnswer;
  failure?: unknown;
}

export interface Conversation {
  exchanges: Exchange[];
  isBusy: boolean;
  ask: (settings: ChatSettings, question: string) => void;
  stop: () => void;
  clear: () => void;
}

export function useConversation(): Conversation {
  const client = useQueryClient();
  const [exchanges, setExchanges] = useState<Exchange[]>([]);
  const asking = useRef<AbortController | undefined>(undefined);
  const nextId = useRef(1);
  // When a person leaves the page, the engine stops working on the answer.
  useEffect(() => () => asking.current?.abort(), []);

  const change = (id: number, changed: Partial<Exchange>) =>
    setExchanges((now) => now.map((exchange) => (exchange.id === id ? { ...exchange, ...changed } : exchange)));

  const ask = async (settings: ChatSettings, question: string) => {
    if (asking.current) return;
    const { signal } = (asking.current = new AbortController());
    const id = nextId.current++;
    const exchange: Exchange = {
      id,
      model: settings.model,
      question,
      state: 'waiting',
      sentAt: performance.now(),
      answer: emptyAnswer(),
    };
    setExchanges((now) => [...now, exchange]);
    const drawn = perFrame((answer: ChatAnswer) => change(id, { answer }));
    try {
      const response = await sessionFetch(`${GATEWAY_ROOT}/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify(chatBody(settings, messagesOfExchanges([...exchanges, exchange]))),
        signal,
      });
      change(id, { headers: headersOf(response) });
      if (!response.ok) throw await refusalOf(response);
      change(id, { state: 'streaming' });
      for await (const answer of answersOf(response, { signal })) drawn.next(answer);
      drawn.flush();
      change(id, { state: 'done', endedAt: performance.now() });
    } catch (failure) {
      drawn.flush();
      change(id, {
        endedAt: performance.now(),
        ...(signal.aborted ? { state: 'stopped' } : { state: 'failed', failure }),
      });
      if (isSlipwayError(failure, 'unauthenticated'))
        void client.invalidateQueries({ queryKey: sessionQuery.queryKey });
    } finally {
      asking.current = undefined;
    }
  };

  return {
    exchanges,
    isBusy: exchanges.some(({ state }) => state === 'waiting' || state === 'streaming'),
    ask: (settings, question) => void ask(settings, question),
    stop: () => asking.current?.abort(),
    clear: () => setExchanges([]),
  };
}

/** Returns the conversation for the next request: a question without an answer is left out, except the last one. */
export function messagesOfExchanges(exchanges: readonly Pick<Exchange, 'question' | 'answer'>[]): Message[] {
  return exchanges.flatMap(({ question, answer }, index): Message[] => {
    if (answer.text !== '')
      return [
        { role: 'user', content: question },
        { role: 'assistant', content: answer.text },
      ];
    return index === exchanges.length - 1 ? [{ role: 'user', content: question }] : [];
  });
}

function headersOf({ headers }: Response): AnswerHeaders {
  const read = (name: string) => headers.get(name)?.slice(0, 128) ?? null;
  return {
    revision: read('x-slipway-revision'),
    passport: read('x-context-passport'),
    affinity: read('x-affinity'),
    request_id: read('x-request-id'),
    held_ms: read('x-slipway-held-ms'),
  };
}

/** Renders the newest value at most once per frame: a fast engine sends more often than a screen can show. */
function perFrame<Value>(draw: (value: Value) => void): { next: (value: Value) => void; flush: () => void } {
  let newest: Value | undefined;
  let frame: number | undefined;
  const flush = () => {
    if (frame !== undefined) cancelAnimationFrame(frame);
    frame = undefined;
    if (newest !== undefined) draw(newest);
    newest = undefined;
  };
  return {
    next: (value) => {
      newest = value;
      frame ??= requestAnimationFrame(flush);
    },
    flush,
  };
}

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { answersOf, emptyAnswer, type ChatAnswer } from '../../api/chat-answer.js';
import { refusalOf } from '../../api/chat-failure.js';
import { GATEWAY_ROOT, sessionFetch } from '../../api/client.js';
import { sessionQuery } from '../../api/who.js';
import { Button } from '../../ui/button.js';
import { ErrorNote } from '../../ui/error-note.js';
import { TextField } from '../../ui/field.js';
import { Waiting } from '../../ui/waiting.js';
import { firstChatBody, chatCurl } from './first-run-commands.js';
import { StagePanel } from './stage-panel.js';

interface SentMessage {
  state: 'waiting' | 'answering' | 'done' | 'failed';
  answer: ChatAnswer;
  revision?: string;
  failure?: unknown;
}

const ASKED = 'What is a canary rollout?';

/** The last click: a request through the gateway, with its answer as it arrives. */
export function SendStage({ name, isReady }: { name: string; isReady: boolean }) {
  const { data: session } = useQuery(sessionQuery);
  const [question, setQuestion] = useState(ASKED);
  const { sent, send } = useSending(name);
  const isBusy = sent?.state === 'waiting' || sent?.state === 'answering';
  const curl = chatCurl(session?.gateway ?? '', name, question);
  return (
    <StagePanel
      title="3. Send a request"
      state={sent?.state === 'done' ? 'done' : isBusy ? 'running' : isReady ? 'next' : 'upcoming'}
      lines={[{ name: 'curl', text: curl }]}
    >
      <p className="text-sm">
        The gateway serves the OpenAI API. The <code>model</code> is the deployment&apos;s name.
      </p>
      <div className="flex flex-wrap items-end gap-2">
        <div className="min-w-0 grow">
          <TextField
            label="Question"
            maxLength={2_000}
            value={question}
            onChange={(event) => setQuestion(event.target.value)}
          />
        </div>
        <Button
          kind="primary"
          isBusy={isBusy}
          disabled={!isReady || question.trim() === ''}
          onClick={() => send(question)}
        >
          Send
        </Button>
      </div>
      {sent && <Answered sent={sent} name={name} />}
    </StagePanel>
  );
}

function Answered({ sent: { state, answer, revision, failure }, name }: { sent: SentMessage; name: string }) {
  return (
    <div className="space-y-2 text-sm">
      {state === 'waiting' && <Waiting for="the first token" />}
      {answer.text !== '' && (
        <p aria-label="Answer" role="region" className="rounded bg-sunken p-3 break-words whitespace-pre-wrap">
          {answer.text}
        </p>
      )}
      {state === 'failed' && <ErrorNote error={failure} />}
      {state === 'done' && (
        <p role="status">
          Served{revision && ` by ${revision}`}. Next:{' '}
          <Link to="/deployments/$name" params={{ name }} className="underline">
            watch {name}
          </Link>
          {', '}
          <Link to="/playground" search={{ model: name } as never} className="underline">
            open it in the playground
          </Link>
          {', or '}
          <Link to="/targets" className="underline">
            see the available engines
          </Link>
          .
        </p>
      )}
    </div>
  );
}

function useSending(name: string): { sent: SentMessage | undefined; send: (question: string) => void } {
  const [sent, setSent] = useState<SentMessage>();
  const sending = useRef<AbortController | undefined>(undefined);
  // When a person leaves the page, the engine stops working on the answer.
  useEffect(() => () => sending.current?.abort(), []);

  const send = async (question: string) => {
    sending.current?.abort();
    const { signal } = (sending.current = new AbortController());
    const change = (changed: Partial<SentMessage>) =>
      !signal.aborted && setSent((now) => ({ state: 'waiting', answer: emptyAnswer(), ...now, ...changed }));
    setSent({ state: 'waiting', answer: emptyAnswer() });
    try {
      const response = await sessionFetch(`${GATEWAY_ROOT}/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify(firstChatBody(name, question)),
        signal,
      });
      if (!response.ok) throw await refusalOf(response);
      change({ state: 'answering', revision: response.headers.get('x-slipway-revision')?.slice(0, 128) });
      for await (const answer of answersOf(response, { signal })) change({ answer });
      change({ state: 'done' });
    } catch (failure) {
      change({ state: 'failed', failure });
    }
  };
  return { sent, send: (question) => void send(question) };
}

import { CircleStop, Eraser, Send } from 'lucide-react';
import { useEffect, useRef, type FormEvent, type KeyboardEvent } from 'react';
import { Button } from '../../ui/button.js';
import { TextArea } from '../../ui/field.js';
import { Panel } from '../../ui/panel.js';
import { ExchangeView } from './exchange-view.js';
import { MOST_EXCHANGES, type Conversation } from './use-conversation.js';

interface ConversationPanelProps {
  conversation: Conversation;
  draft: string;
  onDraft: (draft: string) => void;
  isReady: boolean;
  onAsk: () => void;
}

export function ConversationPanel({ conversation, draft, onDraft, isReady, onAsk }: ConversationPanelProps) {
  const { exchanges, isBusy, stop, clear } = conversation;
  const isFull = exchanges.length >= MOST_EXCHANGES;
  const mayAsk = isReady && !isBusy && !isFull && draft.trim() !== '';
  const box = useFollowedEnd(exchanges);
  const submit = (event: FormEvent | KeyboardEvent) => {
    event.preventDefault();
    if (mayAsk) onAsk();
  };
  return (
    <Panel
      title="Conversation"
      actions={
        exchanges.length > 0 && (
          <Button
            kind="quiet"
            isSmall
            disabled={isBusy}
            icon={<Eraser aria-hidden className="size-3.5" />}
            onClick={clear}
          >
            Clear
          </Button>
        )
      }
    >
      <div className="flex h-full flex-col gap-3">
        <div
          ref={box}
          tabIndex={0}
          role="region"
          aria-label="Messages"
          className="max-h-[60vh] min-h-40 grow overflow-y-auto"
        >
          {exchanges.length === 0 && (
            <p className="text-sm text-soft">No messages yet. Send one to start the conversation.</p>
          )}
          <ol className="space-y-4">
            {exchanges.map((exchange) => (
              <li key={exchange.id}>
                <ExchangeView exchange={exchange} />
              </li>
            ))}
          </ol>
        </div>
        <p role="status" className="sr-only">
          {isBusy ? 'The model is responding.' : exchanges.length > 0 && `Response ended: ${exchanges.at(-1)!.state}.`}
        </p>
        <form onSubmit={submit} className="space-y-2">
          <TextArea
            label="Message"
            rows={3}
            maxLength={100_000}
            hint={
              isFull
                ? `A conversation has at most ${MOST_EXCHANGES} questions. Clear it to continue.`
                : 'Press Enter to send, Shift+Enter to start a new line.'
            }
            value={draft}
            onChange={(event) => onDraft(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) submit(event);
            }}
          />
          <div className="flex justify-end gap-2">
            {isBusy && (
              <Button icon={<CircleStop aria-hidden className="size-4" />} onClick={stop}>
                Stop
              </Button>
            )}
            <Button type="submit" kind="primary" disabled={!mayAsk} icon={<Send aria-hidden className="size-4" />}>
              Send
            </Button>
          </div>
        </form>
      </div>
    </Panel>
  );
}

/** Keeps the end visible while the text grows, unless the reader has scrolled away from it. */
function useFollowedEnd(grown: unknown) {
  const box = useRef<HTMLDivElement>(null);
  const wasAtEnd = useRef(true);
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const onScroll = () => {
      wasAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < 40;
    };
    element.addEventListener('scroll', onScroll);
    return () => element.removeEventListener('scroll', onScroll);
  }, []);
  useEffect(() => {
    if (box.current && wasAtEnd.current) box.current.scrollTop = box.current.scrollHeight;
  }, [grown]);
  return box;
}

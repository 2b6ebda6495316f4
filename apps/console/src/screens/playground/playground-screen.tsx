import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useAddress } from '../../api/search.js';
import { sessionQuery } from '../../api/who.js';
import { CopyButton } from '../../ui/copy.js';
import { EmptyState } from '../../ui/empty-state.js';
import { Loaded } from '../../ui/loaded.js';
import { Panel, ScreenHead } from '../../ui/panel.js';
import { chatBody, conversationCurl, settingFaultsOf, type ChatSettings } from './chat-request.js';
import { ConversationPanel } from './conversation-panel.js';
import { modelsQuery } from './models.js';
import { PassportPanel } from './passport-panel.js';
import { SettingsPanel } from './settings-panel.js';
import { messagesOfExchanges, useConversation } from './use-conversation.js';

/**
 * Sends requests to any model that this person may use, through the gateway, and
 * shows the gateway's headers of the answer.
 */
export function PlaygroundScreen() {
  const models = useQuery(modelsQuery);
  return (
    <>
      <ScreenHead title="Playground" />
      <Loaded query={models} what="the gateway's models">
        {(names) => <Playground models={names} />}
      </Loaded>
    </>
  );
}

function Playground({ models }: { models: string[] }) {
  const [{ model: chosen }, setAddress] = useAddress();
  const session = useQuery(sessionQuery);
  const conversation = useConversation();
  const [draft, setDraft] = useState('');
  const [typed, setTyped] = useState({ system: '', temperature: '', max_tokens: '', session_id: '' });
  const model = chosen ?? models[0];
  if (model === undefined) return <NothingToAsk />;

  const settings: ChatSettings = { ...typed, model };
  const faults = settingFaultsOf(settings);
  const passport = conversation.exchanges.findLast(({ headers }) => headers?.passport)?.headers?.passport;
  const asked = conversation.exchanges.at(-1);
  const next = draft.trim() === '' ? (asked?.question ?? 'Hello') : draft;
  const said = draft.trim() === '' && asked ? conversation.exchanges.slice(0, -1) : conversation.exchanges;
  const body = chatBody(settings, [...messagesOfExchanges(said), { role: 'user', content: next }]);
  return (
    <div className="grid gap-3 lg:grid-cols-[1fr_20rem]">
      <ConversationPanel
        conversation={conversation}
        draft={draft}
        onDraft={setDraft}
        isReady={Object.keys(faults).length === 0}
        onAsk={() => {
          conversation.ask(settings, draft);
          setDraft('');
        }}
      />
      <div className="min-w-0 space-y-3">
        <SettingsPanel
          settings={settings}
          faults={faults}
          models={models}
          onModel={(name) => setAddress({ model: name })}
          onChange={(changed) => setTyped({ ...typed, ...changed })}
          actions={
            session.data && (
              <CopyButton text={conversationCurl(session.data.gateway, body)} label="Copy as curl">
                curl
              </CopyButton>
            )
          }
        />
        {passport && <PassportPanel id={passport} key={passport} />}
      </div>
    </div>
  );
}

function NothingToAsk() {
  return (
    <Panel title="Models">
      <EmptyState title="No models yet" command="slipway apply -f chat.yaml">
        <p className="text-sm text-soft">
          A deployment appears here once it has a route, a model API once it is published.{' '}
          <Link to="/first-run" className="underline">
            Start with the simulator
          </Link>
        </p>
      </EmptyState>
    </Panel>
  );
}

import { shellLine } from '../../ui/text/shell-line.js';

export interface Message {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

/** What is asked of the model, as the fields of the page hold it. */
export interface ChatSettings {
  model: string;
  system: string;
  temperature: string;
  max_tokens: string;
  session_id: string;
}

/** The body of `POST /v1/chat/completions`; what is left empty is left out, so that the engine's own default holds. */
export function chatBody(settings: ChatSettings, messages: readonly Message[]): Record<string, unknown> {
  const { model, system, temperature, max_tokens, session_id } = settings;
  return {
    model,
    messages: [...(system.trim() === '' ? [] : [{ role: 'system', content: system }]), ...messages],
    stream: true,
    stream_options: { include_usage: true },
    ...(temperature.trim() !== '' && { temperature: Number(temperature) }),
    ...(max_tokens.trim() !== '' && { max_tokens: Number(max_tokens) }),
    ...(session_id.trim() !== '' && { session_id: session_id.trim() }),
  };
}

export type SettingFaults = Partial<Record<'temperature' | 'max_tokens', string>>;

/** What cannot be sent, by field. Whether a model takes it is the engine's to say. */
export function settingFaultsOf({ temperature, max_tokens }: ChatSettings): SettingFaults {
  const heat = Number(temperature);
  const most = Number(max_tokens);
  return {
    ...(!(heat >= 0 && heat <= 2) && { temperature: 'A number from 0 to 2.' }),
    ...(max_tokens.trim() !== '' &&
      !(Number.isInteger(most) && most >= 1) && { max_tokens: 'A whole number of at least 1.' }),
  };
}

/** The request as a line of curl against the gateway's public address. The token stays a variable: what is copied is pasted anywhere. */
export function conversationCurl(gateway: string, body: Record<string, unknown>): string {
  const root = gateway.replace(/\/+$/, '').replace(/\/v1$/, '');
  return [
    shellLine('curl', '-N', `${root}/v1/chat/completions`),
    `-H "authorization: Bearer $SLIPWAY_TOKEN"`,
    `-H 'content-type: application/json'`,
    shellLine('-d', JSON.stringify(body)),
  ].join(' \\\n  ');
}

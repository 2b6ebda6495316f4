import { withoutTrailingSlashes } from '@slipway/sdk';
import { shellLine } from '../../ui/text/shell-line.js';

export interface Message {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

/** The settings of a request, as the fields of the page hold them. */
export interface ChatSettings {
  model: string;
  system: string;
  temperature: string;
  max_tokens: string;
  session_id: string;
}

/**
 * Makes the body of `POST /v1/chat/completions`; empty fields are left out, so that the engine's own default applies.
 */
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

/** Returns the invalid settings, by field. The engine decides whether a model accepts them. */
export function settingFaultsOf({ temperature, max_tokens }: ChatSettings): SettingFaults {
  const heat = Number(temperature);
  const most = Number(max_tokens);
  return {
    ...(!(heat >= 0 && heat <= 2) && { temperature: 'A number from 0 to 2.' }),
    ...(max_tokens.trim() !== '' &&
      !(Number.isInteger(most) && most >= 1) && { max_tokens: 'A whole number of at least 1.' }),
  };
}

/**
 * Makes a line of curl with the gateway's public address. The token stays a variable,
 * because a copied text may be pasted anywhere.
 */
export function conversationCurl(gateway: string, body: Record<string, unknown>): string {
  const root = withoutTrailingSlashes(gateway).replace(/\/v1$/, '');
  return [
    shellLine('curl', '-N', `${root}/v1/chat/completions`),
    `-H "authorization: Bearer $SLIPWAY_TOKEN"`,
    `-H 'content-type: application/json'`,
    shellLine('-d', JSON.stringify(body)),
  ].join(' \\\n  ');
}

import { withoutTrailingSlashes } from '@slipway/sdk';
import type { CatalogEntry } from '../../api/items.js';
import { shellLine } from '../../ui/text/shell-line.js';

/** Whether an entry matches the typed text; it must contain every word. */
export function isMeant({ slug, name, description }: CatalogEntry, search: string): boolean {
  const text = `${slug} ${name} ${description ?? ''}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** Formats the price of a million tokens. */
export function priceText(pricing: CatalogEntry['pricing']): string {
  if (!pricing) return 'not specified';
  const { currency, input_per_mtok, output_per_mtok } = pricing;
  return `${moneyText(input_per_mtok, currency)} in, ${moneyText(output_per_mtok, currency)} out`;
}

/** Prices of a token have more digits than ordinary amounts of money. */
function moneyText(amount: number, currency: string): string {
  try {
    return new Intl.NumberFormat('en', { style: 'currency', currency, maximumFractionDigits: 6 }).format(amount);
  } catch {
    return `${amount} ${currency}`;
  }
}

export const tokensText = (tokens: number | null): string =>
  tokens === null ? 'not specified' : new Intl.NumberFormat('en').format(tokens);

/** A first request for a shell. The token stays a variable. */
export function entryCurl({ endpoint: { base_url, model } }: CatalogEntry): string {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] });
  return [
    shellLine('curl', `${withoutTrailingSlashes(base_url)}/chat/completions`),
    `-H "authorization: Bearer $SLIPWAY_TOKEN"`,
    `-H 'content-type: application/json'`,
    shellLine('-d', body),
  ].join(' \\\n  ');
}

/** The same with the client that most programs already have. */
export const pythonOf = ({ endpoint: { base_url, model } }: CatalogEntry): string =>
  [
    'import os',
    'from openai import OpenAI',
    '',
    `client = OpenAI(base_url=${JSON.stringify(base_url)}, api_key=os.environ["SLIPWAY_TOKEN"])`,
    'response = client.chat.completions.create(',
    `    model=${JSON.stringify(model)},`,
    '    messages=[{"role": "user", "content": "Hello"}],',
    ')',
    'print(response.choices[0].message.content)',
  ].join('\n');

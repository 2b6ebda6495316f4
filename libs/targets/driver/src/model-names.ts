import { fieldOf, isObject } from './served-requests.js';

const MOST_SHOWN = 10;
const LONGEST_SHOWN = 80;
/**
 * Control characters, surrogates and marks that change the direction of a text. A stranger wrote the text, and people
 * read it.
 */
const UNSHOWABLE = /[^\p{L}\p{N}\p{P}\p{S} ]/gu;

/** A model as a server lists it. */
export interface ListedModel {
  /** Its id first, then the other names to which the server answers. */
  names: string[];
  /** The most tokens of one request, if the server reports it. */
  contextLength?: number;
}

/** Where servers report the tokens of one request. The limit of the running server comes before that of its model. */
const CONTEXT_FIELDS = [
  'max_model_len',
  'meta.n_ctx',
  'n_ctx',
  'loaded_context_length',
  'context_length',
  'context_window',
  'max_context_length',
  'meta.n_ctx_train',
];

/** Reads the answer of `GET /models`. Undefined if it is not a list of models. */
export function readModelList(answer: unknown): ListedModel[] | undefined {
  const data = fieldOf(answer, 'data');
  if (!Array.isArray(data)) return undefined;
  return data.filter(isObject).flatMap((model) => {
    const { id, aliases, root } = model;
    const names = [id, ...(Array.isArray(aliases) ? aliases : []), root].filter((name) => typeof name === 'string');
    const contextLength = CONTEXT_FIELDS.map((field) => fieldOf(model, field)).find(isTokenCount);
    if (names.length === 0) return [];
    return [{ names: [...new Set(names)], ...(contextLength !== undefined && { contextLength }) }];
  });
}

export function isTokenCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0;
}

/** Whether a list names the model. Ollama lists `llama3:latest` and answers to `llama3`. */
export function isNamed(model: string, names: readonly string[]): boolean {
  return names.includes(model) || names.includes(`${model}:latest`);
}

/** Whether a list shows the model, by a name or by its file: llama.cpp lists the path of the file without an alias. */
export function isListed(model: string, names: readonly string[]): boolean {
  return isNamed(model, names) || names.some((name) => fileNames(name).includes(model));
}

/** The names of a model's file, with and without its extension; none for a name that is not a file's. */
function fileNames(path: string): string[] {
  const name = path.split(/[\\/]/).at(-1)!;
  return name.endsWith('.gguf') ? [name, name.slice(0, -'.gguf'.length)] : [];
}

/** Whether a server with this list has the model; the reason if the list does not show it. */
export function checkModelList(model: string, names: readonly string[]): { has: boolean } | { unknown: string } {
  if (names.length === 0) return { unknown: 'it lists no models' };
  if (isListed(model, names)) return { has: true };
  // A broker lists a pattern for all models that it passes on.
  if (names.some((name) => name.includes('*'))) return { unknown: 'it lists patterns instead of models' };
  return { has: false };
}

/** A text for people: some of the names, shortened, and without characters that would break a text. */
export function describeModels(names: readonly string[]): string {
  const more = names.length > MOST_SHOWN ? ` and ${names.length - MOST_SHOWN} more` : '';
  return `${names.slice(0, MOST_SHOWN).map(shown).join(', ')}${more}`;
}

function shown(name: string): string {
  return showable(name.length > LONGEST_SHOWN ? `${name.slice(0, LONGEST_SHOWN)}…` : name);
}

/** A text of a stranger, without characters that would break a text. */
export function showable(text: string): string {
  return text.replace(UNSHOWABLE, '?');
}

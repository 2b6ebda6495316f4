// Tells secrets from the words that texts of engines have in the same positions: usage texts, errors about an option,
// and sentences about keys and passwords.

/** Words that follow an option, a field or a scheme in a sentence, and values that mean "none". In lower case. */
const WORDS: ReadonlySet<string> = new Set(
  (
    'a an the this that these any all no not none null nil undefined unset empty missing true false yes default optional ' +
    'to or and of in on at as by for from with without but if when where while than then so because which will would ' +
    'is are was were be been has have had do does did must may might can cannot could should needs need requires ' +
    'required require expected expects got given set sets using use used uses provided specified configured supported ' +
    'found invalid valid unknown wrong incorrect rejected accepted denied refused expired ignored deprecated removed ' +
    'enabled disabled loaded read flag flags option options argument arguments parameter parameters value values field ' +
    'key keys token tokens secret secrets password passwords name string strings stringarray str text int bool boolean ' +
    'float bytes file path header headers environment variable auth authentication authorization authorisation scheme ' +
    'credentials usage example see please only also more too it its your you we they'
  ).split(' '),
);
/** Names of values in usage texts that are not derived from the option: `--api-key KEY`. */
const METAVARIABLES: ReadonlySet<string> = new Set('TEXT STRING STR VALUE NAME FNAME FILE PATH'.split(' '));
/** Longer texts are no words. */
const LONGEST_WORD = 40;

/**
 * Whether a text in the position of a secret is a word or a placeholder.
 * @param option the name before it, such as `--api-key`
 */
export function isWord(text: string, option = ''): boolean {
  if (text.length > LONGEST_WORD) return false;
  if (/^\[?<[\w-]*>?\]?$/.test(text) || /^(?:[*.…]+|x{3,40})$/i.test(text)) return true;
  const word = text.replace(/^[[({|]+/, '').replace(/[.:?!>|\])}]{1,9}$/, '');
  if (WORDS.has(word.toLowerCase())) return true;
  return /^[A-Z][A-Z_]+$/.test(word) && (METAVARIABLES.has(word) || isMetavariableOf(word, option));
}

/** `API_KEY`, `KEY` and `OPENAI_API_KEY` of `--api-key`. */
function isMetavariableOf(word: string, option: string): boolean {
  const name = option
    .replace(/^[^A-Za-z]+/, '')
    .replaceAll(/[- ]/g, '_')
    .toUpperCase();
  return name !== '' && (name.endsWith(word) || word.endsWith(`_${name}`));
}

/** Words of six letters or more that lines of many engines have. In lower case. */
const COMMON_WORDS: ReadonlySet<string> = new Set(
  (
    'access account active address admin answer api-key apikey application assistant attention available backend batch ' +
    'cache cached client cluster compile completion complete config connect connected connection content context ' +
    'create created default deployment device devices directory download driver embedding embeddings engine error errors ' +
    'example external failed failure finish finished folder gateway generation handle health inference info information ' +
    'initialized instance internal invalid kernel launch listen listening llama loaded loader loading localhost machine ' +
    'master memory message method metrics mistral model models network number numbers openai output password pipeline ' +
    'postgres prefill prefix process processing production project prompt provider public python quantization ready ' +
    'release request requests response result retry revision running runtime sampling secret secrets server serving ' +
    'session settings shutdown signal single socket started startup status stopped storage stream string success system ' +
    'target tensor testing thread timeout tokenizer tokens torch transformers uvicorn version vision volume waiting ' +
    'warning weights worker workers'
  ).split(' '),
);

/**
 * Whether a value of a secret is a word or a number that lines have for other reasons. Such a value is no protection,
 * and its removal from every sentence would only show what it is.
 */
export function isOrdinary(value: string): boolean {
  const word = value.toLowerCase();
  return /^\d{1,7}$/.test(value) || COMMON_WORDS.has(word) || WORDS.has(word);
}

/** A part of a name: `Qwen2`, `32B`, `W4A16`, `GPTQ`, `Instruct`, `DeepSeek`. */
const NAME_PART =
  /^(?:[A-Za-z]{0,3}\d{1,5}[A-Za-z]{0,2}\d{0,3}[A-Za-z]?|[A-Z]{1,6}\d{0,3}|[A-Z]?[a-z]{1,13}(?:[A-Z][a-z]{1,13}){0,2}\d{0,3})$/;
const LONGEST_PART = 14;
/** In random text, a run of letters that are written alike is much shorter. */
const LETTERS_OF_WORD = 4;

/** Whether a text of letters, digits, `-` and `_` is the name of a model or of a class, and not random. */
export function isName(text: string): boolean {
  const parts = text.split(/[-_]+/);
  if (parts.length > 2) return parts.every((part) => part.length <= LONGEST_PART && NAME_PART.test(part));
  const words = text.match(/[A-Z]{1,43}(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? [];
  return parts.length === 1 && words.length * LETTERS_OF_WORD <= text.length;
}

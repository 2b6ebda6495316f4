import { isName, isOrdinary, isWord } from './secret-words.js';

const REDACTED = '[redacted]';
/** A shorter value is a word that a line may contain for other reasons. */
const MIN_SECRET_LENGTH = 6;
/** A shorter value is redacted only if it is not a part of a longer word: `llama3` is a part of `meta-llama3-8b`. */
const MIN_PART_LENGTH = 16;
const WORD_CHARACTER = /[\w-]/;
/** An escape sequence of JSON or of a URL, whose last character is a letter or a digit. */
const ENDS_IN_ESCAPE = /(?:\\[nrtbf]|\\u[\da-f]{4}|%[\da-f]{2})$/i;
const LONGEST_ESCAPE = 6;
/** The name of a secret at the end of an option: `--api-key`, `-hf-token`. */
const SECRET_NAME = /(?:api[-_]keys?|passw(?:or)?d|secret|token)$/i;
const LONGEST_NAME = 'password'.length;
const KEY_LENGTH = 43;
/** The shortest text with a secret is `//:a@`. Many shorter lines arrive at once, and each pattern takes time. */
const SHORTEST_TEXT = 5;

/**
 * Patterns of secrets. The first group of each pattern stays in the text. An engine writes the text, so each pattern
 * takes linear time: it begins with a fixed text or with a bounded part, and no two neighbouring parts share characters
 * of which a long run could be divided between them in many ways.
 */
const SECRETS: RegExp[] = [
  /()\bhf_[A-Za-z0-9]{20,}/g,
  /(\bslw_[A-Za-z0-9-]{1,64}_)[^\s"',;}\]]+/g,
  // Up to the last @, because a password may contain one. An image may have a tag and a digest.
  /(\/\/)[^\s/:@]*:[^\s/]*(?=@(?!sha256:))/g,
];
/** The same, unless a word is in the position of the secret. The second group is the name before it. */
const SECRETS_OR_WORDS: RegExp[] = [
  /()()\b((?:sk|ghp|gho|ghs|glpat)[-_][A-Za-z0-9_-]{16,})/g,
  /(\b(Bearer|Basic)\s+)([^\s"',;]+)/gi,
  /((api[-_ ]?keys?|passw(?:or)?d|secret|(?:hf|hub|access|auth)[-_]token)["']?\s*[=:]\s*[[("']*)([^\s"',;&()[\]}][^\s"',;&)\]}]*)/gi,
];
/** The same at the end of a text that was cut, if the cut hides what identifies a secret. */
const CUT_SECRETS: RegExp[] = [
  /()\bhf_[A-Za-z0-9]{1,19}$/,
  /()\b(?:sk|ghp|gho|ghs|glpat)[-_][A-Za-z0-9_-]{1,15}$/,
  /(\/\/[^\s/:@]*:)[^\s/]+$/,
];
/** A key of an instance is 43 characters of base64url. */
const KEY = /(?<![\w-])[\w-]{43}(?![\w-])/g;
const CUT_KEY = /(?<![\w-])[\w-]{8,42}$/;

/**
 * Removes from a text everything that looks like a secret, and the given values. An engine may print everything that it
 * was started with. Drivers call this, and so does the code that passes lines on, because a driver may forget it.
 * It takes time in proportion to the text, whatever the text is.
 * @param isCut whether the end of the text is missing. The beginning of a secret at the end is then removed too
 */
export function redactSecrets(text: string, values: readonly string[] = [], isCut = false): string {
  return redactor(values)(text, isCut);
}

/** Redacts a text like `redactSecrets`, with the values of its redactor. */
export type Redactor = (text: string, isCut?: boolean) => string;

/** Returns a redactor for many texts: the values are prepared once, not for each text. */
export function redactor(values: readonly string[]): Redactor {
  const prepared = pieces(values);
  return (text, isCut = false) => redact(text, prepared, isCut);
}

function redact(text: string, values: readonly string[], isCut: boolean): string {
  if (!isCut && text.length < SHORTEST_TEXT) return text;
  let shown = text;
  for (const value of values) {
    shown = withoutValue(shown, value);
    if (isCut && !isOrdinary(value)) shown = withoutBeginning(shown, value);
  }
  for (const pattern of SECRETS) shown = shown.replace(pattern, `$1${REDACTED}`);
  for (const pattern of SECRETS_OR_WORDS)
    shown = shown.replace(pattern, (all, before: string, name: string, value: string) =>
      isNoSecret(value, name) ? all : `${before}${REDACTED}`,
    );
  shown = withoutOptions(shown).replace(KEY, (key) => (isMixed(key) && isOf32Bytes(key) ? REDACTED : key));
  if (!isCut) return shown;
  for (const pattern of CUT_SECRETS) shown = shown.replace(pattern, `$1${REDACTED}`);
  return shown.replace(CUT_KEY, (key) => (isMixed(key) ? REDACTED : key));
}

/**
 * Redacts one value, of any length: a short one where it is a word of its own, and an ordinary word only where a value
 * is expected.
 */
export function withoutValue(text: string, value: string): string {
  if (value === '') return text;
  if (value.length >= MIN_PART_LENGTH) return text.replaceAll(value, REDACTED);
  const isOnlyAValue = isOrdinary(value);
  let out = '';
  let copiedTo = 0;
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    if (at < copiedTo) continue;
    const before = text.slice(Math.max(0, at - LONGEST_ESCAPE), at);
    const isBeginning = !WORD_CHARACTER.test(before.slice(-1)) || ENDS_IN_ESCAPE.test(before);
    const isEnd = !WORD_CHARACTER.test(text.charAt(at + value.length));
    if (!isBeginning || !isEnd || (isOnlyAValue && !/["'=:@]$/.test(before))) continue;
    out += text.slice(copiedTo, at) + REDACTED;
    copiedTo = at + value.length;
  }
  return copiedTo === 0 ? text : out + text.slice(copiedTo);
}

/** Whether a value after `Bearer`, or after the name of a secret, is a word. `Basic` also begins ordinary sentences. */
function isNoSecret(value: string, name: string): boolean {
  if (/^\[?redacted/.test(value) || isWord(value, name)) return true;
  // Tokens are mixed, unlike names such as `sk-learn-feature-extraction`.
  if (name === '') return /^[a-z_-]*$/.test(value);
  return name.toLowerCase() === 'basic' && /^(?:[A-Z]?[a-z]{1,30}[.:]?|realm=.*)$/.test(value);
}

/**
 * The values, each also as it is written in JSON and in a URL, and, because a text is often one line, the lines of values
 * with several. Longer ones come first.
 */
function pieces(values: readonly string[]): string[] {
  const all = values
    .map((value) => value.trim())
    .flatMap((value) => [value, JSON.stringify(value).slice(1, -1), encodedForUrl(value), ...value.split('\n')]);
  return [...new Set(all.map((one) => one.trim()))]
    .filter(({ length }) => length >= MIN_SECRET_LENGTH)
    .sort((a, b) => b.length - a.length);
}

function encodedForUrl(value: string): string {
  // It fails for half a surrogate pair.
  return encodeURIComponent(value.replace(/\p{Cs}/gu, '\ufffd'));
}

/** Excludes names and words of the length of a key. */
function isMixed(key: string): boolean {
  return key.length <= KEY_LENGTH && /\d/.test(key) && /[a-z]/.test(key) && /[A-Z]/.test(key) && !isName(key);
}

/** The last of 43 characters has only four bits of 32 bytes; its other two bits are zero. */
function isOf32Bytes(key: string): boolean {
  return /[AEIMQUYcgkosw048]$/.test(key);
}

/**
 * Redacts the values of options such as `--api-key abc`, `--token=abc` and `['--hf-token', 'abc']`. The text after an
 * option may also be its placeholder in a usage text, or the rest of a sentence.
 */
function withoutOptions(text: string): string {
  const word = /[a-z_-]+/gi;
  let out = '';
  let copiedTo = 0;
  for (let found = word.exec(text); found; found = word.exec(text)) {
    const [name] = found;
    if (!isOption(name)) continue;
    const value = /(\s{0,9}=\s{0,9}["']?|\s{1,9}["']?|["']\s{0,9},?\s{0,9}["'])(?!-)([^\s"',;&)\]}=][^\s"',;&)\]}]*)/y;
    value.lastIndex = word.lastIndex;
    const given = value.exec(text);
    if (!given || given[2]!.startsWith('[redacted') || isWord(given[2]!, name)) continue;
    out += text.slice(copiedTo, word.lastIndex) + given[1] + REDACTED;
    copiedTo = value.lastIndex;
    word.lastIndex = copiedTo;
  }
  return copiedTo === 0 ? text : out + text.slice(copiedTo);
}

/** Options that name a token of a model, and not a secret: `--eos-token`. */
const MODEL_TOKEN =
  /(?:bos|eos|pad|unk|sep|cls|mask|stop|start|end|image|video|audio|tool|think|special|per|next|first)[-_]token$/i;
const LONGEST_MODEL_TOKEN = 'special-token'.length;

/** Whether a word of letters, `_` and `-` begins with a dash and ends in the name of a secret. */
function isOption(word: string): boolean {
  return (
    word.startsWith('-') &&
    SECRET_NAME.test(word.slice(-LONGEST_NAME)) &&
    !MODEL_TOKEN.test(word.slice(-LONGEST_MODEL_TOKEN))
  );
}

/**
 * Redacts the end of a text if it is the beginning of a value. This is the search of Knuth, Morris and Pratt, which
 * looks at each character a fixed number of times.
 */
function withoutBeginning(text: string, value: string): string {
  const fallback = new Int32Array(value.length);
  for (let at = 1, length = 0; at < value.length; at += 1) {
    while (length > 0 && value[at] !== value[length]) length = fallback[length - 1]!;
    if (value[at] === value[length]) length += 1;
    fallback[at] = length;
  }
  let matched = 0;
  for (let at = Math.max(0, text.length - value.length + 1); at < text.length; at += 1) {
    while (matched > 0 && text[at] !== value[matched]) matched = fallback[matched - 1]!;
    if (text[at] === value[matched]) matched += 1;
  }
  return matched < MIN_SECRET_LENGTH ? text : `${text.slice(0, text.length - matched)}${REDACTED}`;
}

const REDACTED = '[redacted]';
/** A shorter value is a word that a line may contain for other reasons. */
const MIN_SECRET_LENGTH = 6;
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
  /()\b(?:sk|ghp|gho|ghs|glpat)[-_][A-Za-z0-9_-]{16,}/g,
  /(\bslw_[A-Za-z0-9-]{1,64}_)[^\s"',;}\]]+/g,
  /(\b(?:Bearer|Basic)\s+)[^\s"',;]+/gi,
  /((?:api[-_ ]?keys?|passw(?:or)?d|secret|(?:hf|hub|access|auth)[-_]token)["']?\s*[=:]\s*[[("']*)[^\s"',;&()[\]}][^\s"',;&)\]}]*/gi,
  // Up to the last @, because a password may contain one.
  /(\/\/)[^\s/:@]*:[^\s/]*(?=@)/g,
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
    shown = shown.replaceAll(value, REDACTED);
    if (isCut) shown = withoutBeginning(shown, value);
  }
  for (const pattern of SECRETS) shown = shown.replace(pattern, `$1${REDACTED}`);
  shown = withoutOptions(shown).replace(KEY, (key) => (isMixed(key) ? REDACTED : key));
  if (!isCut) return shown;
  for (const pattern of CUT_SECRETS) shown = shown.replace(pattern, `$1${REDACTED}`);
  return shown.replace(CUT_KEY, (key) => (isMixed(key) ? REDACTED : key));
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
  return key.length <= KEY_LENGTH && /\d/.test(key) && /[a-z]/.test(key) && /[A-Z]/.test(key);
}

/** Redacts the values of options such as `--api-key abc`, `--token=abc` and `['--hf-token', 'abc']`. */
function withoutOptions(text: string): string {
  const word = /[a-z_-]+/gi;
  let out = '';
  let copiedTo = 0;
  for (let found = word.exec(text); found; found = word.exec(text)) {
    const [name] = found;
    if (!isOption(name)) continue;
    const value = name.startsWith('-')
      ? /(["',\s=]+)(?!-)[^\s"',;&)\]}=][^\s"',;&)\]}]*/y
      : /(["',\s]+)(?!-)[^\s"',;&)\]}]+/y;
    value.lastIndex = word.lastIndex;
    const given = value.exec(text);
    if (!given) continue;
    out += text.slice(copiedTo, word.lastIndex) + given[1] + REDACTED;
    copiedTo = value.lastIndex;
    word.lastIndex = copiedTo;
  }
  return copiedTo === 0 ? text : out + text.slice(copiedTo);
}

/** Whether a word of letters, `_` and `-` has a dash and ends in the name of a secret after it. */
function isOption(word: string): boolean {
  const name = SECRET_NAME.exec(word.slice(-LONGEST_NAME))?.[0];
  return name !== undefined && word.slice(0, word.length - name.length).includes('-');
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

const REDACTED = '[redacted]';
/** What a secret looks like; the first group of each stays. */
const SECRETS: RegExp[] = [
  /()\bhf_[A-Za-z0-9]{20,}/g,
  /()\b(?:sk|ghp|gho|ghs|glpat)[-_][A-Za-z0-9_-]{16,}/g,
  /(\bslw_[A-Za-z0-9-]{1,64}_)[^\s"',;}\]]+/g,
  /(\b(?:Bearer|Basic)\s+)[^\s"',;]+/gi,
  /((?:api[-_ ]?keys?|passw(?:or)?d|secret|(?:hf|hub|access|auth)[-_]token)["']?\s*[=:]\s*[[("']*)[^\s"',;&)\]}]+/gi,
  /(--?[a-z-]*(?:api[-_]keys?|passw(?:or)?d|secret|token)(?:["',\s]+))(?!-)[^\s"',;&)\]}]+/gi,
  /(\/\/)[^\s/:@]*:[^\s/@]+(?=@)/g,
  // A key of an instance: 43 characters of base64url. The look-aheads leave names and words of that length alone.
  /()(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{43}(?![\w-])/g,
];
/** A shorter value is a word that a line may well have for other reasons. */
const MIN_SECRET_LENGTH = 6;

/**
 * A line of an engine's output without what looks like a secret, and without the values given: an engine may print all it was started with.
 * Drivers take it out, and so does whoever hands lines on: a driver may forget.
 */
export function redactSecrets(text: string, values: readonly string[] = []): string {
  let shown = text;
  for (const value of values) if (value.length >= MIN_SECRET_LENGTH) shown = shown.replaceAll(value, REDACTED);
  for (const pattern of SECRETS) shown = shown.replace(pattern, `$1${REDACTED}`);
  return shown;
}

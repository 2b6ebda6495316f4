/** Fields whose value never reaches a log line, wherever they stand in the first levels of an object. */
const SECRET_FIELDS = [
  'authorization',
  'credential',
  'credentials',
  'token',
  'password',
  'secret',
  'secret_key',
  'api_key',
  'cookie',
  '["set-cookie"]',
  '["proxy-authorization"]',
];

/** Pino's paths know no "anywhere", so each depth that occurs is named: `authorization`, `headers.authorization`, `req.headers.authorization`. */
export const REDACTED_PATHS: string[] = SECRET_FIELDS.flatMap((field) => {
  const below = field.startsWith('[') ? field : `.${field}`;
  return [field, `*${below}`, `*.*${below}`];
});

export const CENSOR = '[redacted]';

/**
 * The second net: secrets inside texts, such as an error message that quotes a URL or a header. Works on the finished
 * line, so a pattern must not eat the quotes and braces around its match.
 */
export function redactLine(line: string): string {
  return line
    .replace(/\bslw_([A-Za-z0-9-]{1,64})_[^\s"\\,;}\]]+/g, `slw_$1_${CENSOR}`)
    .replace(/\b(Bearer|Basic) +[^\s"\\,;}\]]+/gi, `$1 ${CENSOR}`)
    .replace(/\b([a-z][a-z0-9+.-]*:\/\/[^\s"\\/:@]*):[^\s"\\/@]+@/gi, `$1:${CENSOR}@`);
}

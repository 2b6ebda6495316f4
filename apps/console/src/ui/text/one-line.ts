/** Formats a value of any shape on one line, and cuts it if it is long: the api may send anything. */
export function oneLine(value: unknown, most = 120): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

import { CliError } from './exit-codes.js';

/** A filter may make results without an end. */
const MAX_RESULTS = 100_000;

/** The results of a jq filter, a line each: text as it is, everything else as JSON. */
export async function jqLines(filter: string, value: unknown): Promise<string[]> {
  const { default: jq } = await import('@michaelhomer/jqjs');
  const lines: string[] = [];
  try {
    for (const result of jq.compile(filter)(value)) {
      if (lines.length === MAX_RESULTS) throw new Error(`more than ${MAX_RESULTS} results`);
      lines.push(typeof result === 'string' ? result : JSON.stringify(result));
    }
  } catch (error) {
    const message = `--jq: ${(error as Error).message}`;
    throw new CliError(message, undefined, 'What jq does and this does not is done by jq: slipway … -o json | jq …');
  }
  return lines;
}

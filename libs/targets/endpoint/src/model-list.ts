import { serverRoot } from '@slipway/contracts';
import { causeOf, type ModelsAnswer } from '@slipway/target-driver';
import { request, type Dispatcher } from 'undici';

/** More than any server's own models; the lists of brokers, which have thousands, are longer. */
const MAX_ANSWER_BYTES = 1024 * 1024;
/** A step of an operation waits for it, so it is not as patient as a probe may be told to be. */
const MAX_SECONDS = 10;

/** Where and how a server is asked for what it says of itself. */
export interface ServerQuestion {
  baseUrl: string;
  timeoutSeconds: number;
  dispatcher: Dispatcher;
  credential?: string;
}

/** What it answered with 200, or in words why there is nothing; and how much it sent. */
type ServerReply = ({ json: unknown } | { unknown: string }) & { bytes: number };

/** Asks `GET /v1/models` once. Never throws. A name in which the server hands the credential back is left out. */
export async function listModels(question: ServerQuestion): Promise<ModelsAnswer & { bytes: number }> {
  const { credential } = question;
  const told = await askServer(question, '/v1/models', 'its list of models is too long');
  if ('unknown' in told) return told;
  const names = namesIn(told.json);
  const { bytes } = told;
  if (!names) return { unknown: 'GET /v1/models did not return a list of models', bytes };
  return { names: names.filter((name) => credential === undefined || !name.includes(credential)), bytes };
}

/** One `GET` below the server's root, within the time of one probe and 1 MiB. Never throws. */
export async function askServer(
  { baseUrl, timeoutSeconds, dispatcher, credential }: ServerQuestion,
  path: string,
  tooLong = `the response of GET ${path} is too long`,
): Promise<ServerReply> {
  const seconds = Math.min(timeoutSeconds, MAX_SECONDS);
  const signal = AbortSignal.timeout(Math.max(1, seconds * 1000));
  let bytes = 0;
  try {
    const { statusCode, body } = await request(`${serverRoot(baseUrl)}${path}`, {
      dispatcher,
      signal,
      headers: { accept: 'application/json', ...(credential ? { authorization: `Bearer ${credential}` } : {}) },
    });
    if (statusCode !== 200) {
      await body.dump({ limit: MAX_ANSWER_BYTES, signal });
      return { unknown: `GET ${path} returned ${statusCode}`, bytes };
    }
    const chunks: Buffer[] = [];
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      // Leaving the loop closes the connection.
      if (bytes > MAX_ANSWER_BYTES) return { unknown: tooLong, bytes };
      chunks.push(chunk);
    }
    return { json: parsed(Buffer.concat(chunks).toString('utf8')), bytes };
  } catch (error) {
    return { unknown: causeOf(error, seconds), bytes };
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function namesIn(answer: unknown): string[] | undefined {
  const { data } = (answer ?? {}) as { data?: unknown };
  if (!Array.isArray(data)) return undefined;
  const ids = data.map((model) => (model as { id?: unknown } | null)?.id);
  return [...new Set(ids.filter((id) => typeof id === 'string'))];
}

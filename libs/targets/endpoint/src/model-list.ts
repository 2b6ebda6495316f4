import { serverRoot, timeLimit } from '@slipway/contracts';
import { causeOf, type ModelsAnswer } from '@slipway/target-driver';
import { request, type Dispatcher } from 'undici';

/** No server's list of its own models is longer. The lists of brokers, with thousands of models, are. */
const MAX_ANSWER_BYTES = 1024 * 1024;
/** A step of an operation waits for the answer, so the limit is shorter than that of a patient probe. */
const MAX_SECONDS = 10;

/** The address and the limits of a request for what a server reports about itself. */
export interface ServerQuestion {
  baseUrl: string;
  timeoutSeconds: number;
  dispatcher: Dispatcher;
  credential?: string;
}

/** The content of a 200 answer, or the reason why there is none, and the number of bytes. */
type ServerReply = ({ json: unknown } | { unknown: string }) & { bytes: number };

/** Requests `GET /v1/models` once. Never throws. Leaves out a name in which the server returns the credential. */
export async function listModels(question: ServerQuestion): Promise<ModelsAnswer & { bytes: number }> {
  const { credential } = question;
  const told = await askServer(question, '/v1/models', 'its list of models is too long');
  if ('unknown' in told) return told;
  const names = namesIn(told.json);
  const { bytes } = told;
  if (!names) return { unknown: 'GET /v1/models did not return a list of models', bytes };
  return { names: names.filter((name) => credential === undefined || !name.includes(credential)), bytes };
}

/** Sends one `GET` below the server's root, within the time of one probe and 1 MiB. Never throws. */
export async function askServer(
  { baseUrl, timeoutSeconds, dispatcher, credential }: ServerQuestion,
  path: string,
  tooLong = `the response of GET ${path} is too long`,
): Promise<ServerReply> {
  const seconds = Math.min(timeoutSeconds, MAX_SECONDS);
  const { signal, stop } = timeLimit(seconds * 1000);
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
  } finally {
    stop();
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

import { serverUrls, timeLimit } from '@slipway/contracts';
import { CollectedBytes } from '@slipway/platform-bounds';
import { causeOf, readModelList, type ModelsAnswer } from '@slipway/target-driver';
import { request, type Dispatcher } from 'undici';

/** No server's list of its own models is longer. The lists of brokers, with thousands of models, are. */
const MAX_ANSWER_BYTES = 1024 * 1024;
/** A step of an operation waits for the answer, so the limit is shorter than that of a patient probe. */
const MAX_SECONDS = 10;

/** The address and the limits of a request for what a server reports about itself. */
export interface ServerQuestion {
  baseUrl: string;
  apiPath?: string;
  timeoutSeconds: number;
  dispatcher: Dispatcher;
  credential?: string;
}

/** The content of a 200 answer, or the reason why there is none, and the number of bytes. */
type ServerReply = ({ json: unknown } | { unknown: string }) & { bytes: number };

/** Requests the list of models once. Never throws. Leaves out a name in which the server returns the credential. */
export async function listModels(question: ServerQuestion): Promise<ModelsAnswer & { bytes: number }> {
  const { baseUrl, apiPath, credential } = question;
  const url = `${serverUrls(baseUrl, apiPath).api}/models`;
  const told = await askServer(question, url, 'its list of models is too long');
  if ('unknown' in told) return told;
  const names = readModelList(told.json)?.flatMap((model) => model.names);
  const { bytes } = told;
  if (!names) return { unknown: `GET ${shown(url)} did not return a list of models`, bytes };
  return { names: [...new Set(names)].filter((name) => credential === undefined || !name.includes(credential)), bytes };
}

/** Sends one `GET`, within the time of one probe and 1 MiB. Never throws. */
export async function askServer(
  { timeoutSeconds, dispatcher, credential }: ServerQuestion,
  url: string,
  tooLong = `the response of GET ${shown(url)} is too long`,
): Promise<ServerReply> {
  const seconds = Math.min(timeoutSeconds, MAX_SECONDS);
  const { signal, stop } = timeLimit(seconds * 1000);
  let bytes = 0;
  try {
    const { statusCode, body } = await request(url, {
      dispatcher,
      signal,
      headers: { accept: 'application/json', ...(credential ? { authorization: `Bearer ${credential}` } : {}) },
    });
    if (statusCode !== 200) {
      await body.dump({ limit: MAX_ANSWER_BYTES, signal });
      return { unknown: `GET ${shown(url)} returned ${statusCode}`, bytes };
    }
    const collected = new CollectedBytes();
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      // Leaving the loop closes the connection.
      if (bytes > MAX_ANSWER_BYTES) return { unknown: tooLong, bytes };
      collected.push(chunk);
    }
    return { json: parsed(collected.whole().toString('utf8')), bytes };
  } catch (error) {
    return { unknown: `GET ${shown(url)}: ${causeOf(error, seconds)}`, bytes };
  } finally {
    stop();
  }
}

const MOST_SHOWN = 200;

/** A URL for people. */
export function shown(url: string): string {
  return url.length > MOST_SHOWN ? `${url.slice(0, MOST_SHOWN)}…` : url;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

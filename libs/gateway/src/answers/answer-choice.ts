import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { HeldBytes } from '@slipway/platform-bounds';
import type { RequestDestination } from '../requests/destination.js';
import type { SessionAssignment } from '../sessions/session-book.js';
import type { ClientAnswer } from './answer.js';
import { isCoded, isEventStream } from '../headers.js';
import { ErrorAnswer, PublishedErrorAnswer } from './error-answer.js';
import { PassedJsonAnswer, PassedStreamAnswer } from './passed-answer.js';
import { PublishedJsonAnswer, PublishedStreamAnswer } from './published-answer.js';
import {
  chatCompletion,
  chatCompletionChunk,
  disguiseAs,
  embeddingList,
  textCompletion,
  type AnswerShape,
  type Disguise,
} from './published-shape.js';

/**
 * Headers that every routed answer carries. A published product omits the revision, because it could name the supplier.
 */
export function ownHeaders(
  requestId: string,
  destination: RequestDestination,
  placement: SessionAssignment | undefined,
): OutgoingHttpHeaders {
  const own: OutgoingHttpHeaders = { 'x-request-id': requestId, 'x-affinity': placement?.outcome ?? 'off' };
  if (!destination.published) own['x-slipway-revision'] = destination.backend.spec.revisionName ?? undefined;
  if (placement) own['x-context-passport'] = placement.passportId;
  return own;
}

export function answerFor(from: {
  status: number;
  headers: IncomingHttpHeaders;
  response: ServerResponse;
  own: OutgoingHttpHeaders;
  path: string;
  requestId: string;
  destination: RequestDestination;
  /** The name that the client sent as `model`. */
  model: string;
  /** Names of the top-level members of the request's body. */
  parameters: readonly string[];
  bytes: HeldBytes;
}): ClientAnswer {
  const { status, headers, response, own, model } = from;
  const { backend, published } = from.destination;
  if (!published) {
    if (status >= 300) return new ErrorAnswer(response, own, { modelId: backend.spec.modelId, model });
    const name = Buffer.from(JSON.stringify(model));
    // No client could read a stream with a content encoding: it is refused before its head is sent.
    const isStream = isEventStream(headers) && !isCoded(headers);
    return isStream ? new PassedStreamAnswer(response, own, name) : new PassedJsonAnswer(response, own, name);
  }
  if (status < 200 || status >= 300) return new PublishedErrorAnswer(response, own, from.parameters);
  const { path, bytes, parameters } = from;
  const { whole, chunk } = SHAPES[path] as Record<'whole' | 'chunk', (disguise: Disguise) => AnswerShape>;
  const isStream = isEventStream(headers) && !isCoded(headers);
  const shape = (isStream ? chunk : whole)(disguiseAs(published.slug));
  const parts = { response, own, bytes, path, shape, parameters };
  return isStream ? new PublishedStreamAnswer(parts) : new PublishedJsonAnswer(parts);
}

const SHAPES: Readonly<Record<string, Record<'whole' | 'chunk', (disguise: Disguise) => AnswerShape>>> = {
  '/v1/chat/completions': { whole: chatCompletion, chunk: chatCompletionChunk },
  '/v1/completions': { whole: textCompletion, chunk: textCompletion },
  '/v1/embeddings': { whole: embeddingList, chunk: embeddingList },
};

import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Destination } from '../requests/destination.js';
import type { Placement } from '../sessions/session-book.js';
import { ErrorAnswer, isEventStream, PassedAnswer, type Answer } from './answer.js';
import { PublishedErrorAnswer, PublishedJsonAnswer, PublishedStreamAnswer, type Rebuild } from './published-answer.js';
import { chatCompletion, chatCompletionChunk, embeddingList, textCompletion } from './published-shape.js';

/** What every answer of a drawn request carries. The revision of a published product is left out: it could name the supplier. */
export function ownHeaders(
  requestId: string,
  destination: Destination,
  placement: Placement | undefined,
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
  published: Destination['published'];
  /** Top level of the request's body. */
  fields: Readonly<Record<string, unknown>>;
}): Answer {
  const { status, headers, response, own, published } = from;
  if (!published) return status >= 400 ? new ErrorAnswer(response, own) : new PassedAnswer(response, own);
  // A redirect of a supplier would name it; nothing but 200 carries an answer.
  if (status !== 200) return new PublishedErrorAnswer(response, own, new Set(Object.keys(from.fields)));
  const disguise = { slug: published.slug, requestId: from.requestId };
  const { whole, chunk } = REBUILD_BY_PATH[from.path] as { whole: Rebuild; chunk: Rebuild };
  return isEventStream(headers)
    ? new PublishedStreamAnswer(response, own, disguise, chunk)
    : new PublishedJsonAnswer(response, own, disguise, whole);
}

const REBUILD_BY_PATH: Readonly<Record<string, { whole: Rebuild; chunk: Rebuild }>> = {
  '/v1/chat/completions': { whole: chatCompletion, chunk: chatCompletionChunk },
  '/v1/completions': { whole: textCompletion, chunk: textCompletion },
  '/v1/embeddings': { whole: embeddingList, chunk: embeddingList },
};

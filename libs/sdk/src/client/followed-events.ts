import { isSlipwayError, type SlipwayError } from './errors.js';
import { MessageParser, messagesOf } from './event-stream.js';
import { backOffMs, pause } from './retries.js';
import type { Transport } from './transport.js';
import type { CallOptions, DeploymentEvent, OptionsOf, PathOf } from './types.js';

type StreamId = 'listDeploymentEvents' | 'listOperationEvents';

const AWAY_MS = 7 * 60_000;
const MOST_PAUSE_MS = 30_000;
/** Longest wait that a refusal may request. */
const MOST_ASKED_MS = 60_000;
/** The default if the server sets no wait. */
const COME_AGAIN_MS = 2_000;

export interface FollowOptions extends CallOptions {
  /** Begins after the event with this `sequence`. By default, all stored events come first. */
  after?: number;
  /** Only events of this type. */
  type?: string;
  /** The silence after which a connection counts as dead: by default three heartbeats of the api. */
  silenceMs?: number;
  /** Longest time without a connection: seven minutes by default. */
  awayMs?: number;
  /** Called whenever the connection is lost, with the error of the first attempt to reconnect. */
  onAway?: (error: SlipwayError) => void;
}

/**
 * Yields the events of a deployment for as long as they are read, or those of an operation until it has ended. It
 * replaces a lost connection and continues after the last received event: none is missing, none comes twice.
 */
export async function* followEvents<Id extends StreamId>(
  transport: Transport,
  id: Id,
  path: PathOf<Id>,
  { after, type, silenceMs, awayMs = AWAY_MS, onAway, ...call }: FollowOptions = {},
): AsyncGenerator<DeploymentEvent, void, undefined> {
  const { signal } = call;
  let lastId = after === undefined ? undefined : String(after);
  let failures = 0;
  let lostAt = 0;
  let comeAgainMs = COME_AGAIN_MS;
  for (;;) {
    let hasCome = false;
    let askedMs = 0;
    // A new one for each connection: a message cut off in the last one must not run into this.
    const parser = new MessageParser();
    try {
      const headers = { ...call.headers, accept: 'text/event-stream', ...(lastId && { 'last-event-id': lastId }) };
      const options = { ...call, headers, maxRetries: 0 } as OptionsOf<Id>;
      const response = await transport.raw(id, { path, options });
      // With this status, the api reports that the client has everything.
      if (response.status === 204) return;
      failures = 0;
      for await (const message of messagesOf(response, { parser, signal, silenceMs })) {
        hasCome = true;
        lastId = message.id ?? lastId;
        const event = JSON.parse(message.data) as DeploymentEvent;
        // Filtered here: the api ends an operation's stream only for a client that has its last event, whatever its
        // type.
        if (type === undefined || event.type === type) yield event;
      }
    } catch (error) {
      signal?.throwIfAborted();
      hasCome = false;
      failures += 1;
      if (failures === 1) lostAt = performance.now();
      if (!isSlipwayError(error) || !error.retryable || performance.now() - lostAt > awayMs) throw error;
      if (failures === 2) onAway?.(error);
      askedMs = Math.min(error.retryAfterMs ?? 0, MOST_ASKED_MS);
    }
    comeAgainMs = parser.retryMs ?? comeAgainMs;
    // A stream that ended in order after an event may be complete: an immediate request finds out.
    if (hasCome) continue;
    const backOff = backOffMs(Math.max(0, failures - 1), MOST_PAUSE_MS);
    await pause(Math.max(comeAgainMs, backOff, askedMs), signal);
  }
}

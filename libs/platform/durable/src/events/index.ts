import { EventInbox1700000000026 } from './migrations/1700000000026-event-inbox.js';
import { EventRetention1700000000035 } from './migrations/1700000000035-event-retention.js';
import { Events1700000000022 } from './migrations/1700000000022-events.js';
import { StoredEvents1700000000040 } from './migrations/1700000000040-stored-events.js';

export { EventEntity, EventStreamEntity } from './event.entity.js';
export { EventsModule } from './events.module.js';
export {
  appendAll,
  appendEvents,
  appending,
  readEvents,
  eventsAsWritten,
  type EventAppend,
  type EventSource,
  type NewEvent,
  type StoredEvent,
} from './event.store.js';
export { KeepsEvents, type NeedsEvents, type ExpiredEvents } from './event-retention.js';
export { EventHub } from './event.hub.js';
export { EventPageDto, EventQueryDto } from './event.dto.js';
export { EventInboxEntity, EventSubscriptionEntity } from './inbox.entity.js';
export { EVENT_STREAM_EXAMPLE } from './event-connection.js';
export { EventStreams } from './event-stream.js';
export { OpenAnswers } from './open-answers.js';
export { Client, EventFeed, type FeedClient } from './event-feed.js';
export { Inbox, Subscription, type EventSubscriber, type ReceivedEvent } from './inbox.js';

export const migrations = [
  Events1700000000022,
  EventInbox1700000000026,
  EventRetention1700000000035,
  StoredEvents1700000000040,
];

import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { EventFeed } from './event-feed.js';
import { EventHub } from './event.hub.js';
import { EventList } from './event-list.js';
import { EventRetention } from './event-retention.js';
import { EventStreams } from './event-stream.js';
import { Inbox } from './inbox.js';
import { OpenAnswers } from './open-answers.js';
import { OpenStreamLimits } from './open-stream-limits.js';

const READERS: Provider[] = [EventHub, EventList, OpenAnswers, EventStreams, OpenStreamLimits, EventFeed];

/**
 * Events. Every process appends and reads them. A worker also delivers them to subscribers and, if it has a schedule,
 * deletes old ones.
 */
@Module({})
export class EventsModule {
  static forApi(): DynamicModule {
    return { module: EventsModule, global: true, providers: READERS, exports: READERS };
  }

  static forWorker(): DynamicModule {
    return {
      module: EventsModule,
      global: true,
      imports: [DiscoveryModule],
      providers: [...READERS, Inbox, EventRetention],
      exports: [...READERS, Inbox],
    };
  }
}

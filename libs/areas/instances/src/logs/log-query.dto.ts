import { BooleanField, IntField, StringField, TimestampField } from '@slipway/platform-http';

export class LogQueryDto {
  @IntField({ min: 1, max: 10_000, default: 200, description: 'Last lines' })
  tail: number;

  @TimestampField({ optional: true, description: 'Only what was written from then on' })
  since?: string;

  @StringField({ enum: ['stdout', 'stderr', 'both'], default: 'both', description: 'Which of its two outputs' })
  stream: 'stdout' | 'stderr' | 'both';

  @BooleanField({ default: false, description: 'The last start that is over, instead of the newest' })
  previous: boolean;

  @BooleanField({ default: false, description: 'Goes on with what is written from now on, as `text/event-stream`' })
  follow: boolean;
}

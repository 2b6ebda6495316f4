import { BooleanField, IntField, StringField, TimestampField } from '@slipway/platform-http';

export class LogQueryDto {
  @IntField({ min: 1, max: 10_000, default: 200, description: 'Number of last lines to return' })
  tail: number;

  @TimestampField({ optional: true, description: 'Only output that was written at or after this time' })
  since?: string;

  @IntField({
    min: 1,
    max: 2_592_000,
    optional: true,
    description:
      'Only output of the last so many seconds, by the clock of the server. With `since`, the later of both times counts',
  })
  since_seconds?: number;

  @StringField({ enum: ['stdout', 'stderr', 'both'], default: 'both', description: 'Output stream to return' })
  stream: 'stdout' | 'stderr' | 'both';

  @BooleanField({
    default: false,
    description: 'Return the output of the last start that has ended instead of the newest one',
  })
  previous: boolean;

  @BooleanField({ default: false, description: 'Keep streaming new output as `text/event-stream`' })
  follow: boolean;
}

import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { TOKENS_CHANNEL } from '@slipway/contracts';
import { Database } from '@slipway/platform-database';
import type { SlipwayReply } from '@slipway/platform-http';
import { EventConnection } from './event-connection.js';

const HEARTBEAT_MS = 15_000;

/** The reader of an answer that stays open. */
export interface StreamReader {
  reply: SlipwayReply;
  /**
   * The id of the caller's token, so that only its own revocation causes a check; undefined = check at each revocation.
   */
  tokenId?: string;
  /** Called when it opens, at each heartbeat and when a token was revoked; false ends the answer. */
  stillAllowed(): Promise<boolean>;
}

interface OpenAnswer extends StreamReader {
  connection: EventConnection;
}

/**
 * The open `text/event-stream` answers of this process. Each ends with its connection, its caller's access, or the
 * process.
 */
@Injectable()
export class OpenAnswers implements BeforeApplicationShutdown {
  private readonly answers = new Set<OpenAnswer>();
  private listening?: Promise<unknown>;

  constructor(private readonly database: Database) {}

  /** Resolves when revocations are received. Call it before `open`, so that none is missed in between. */
  async ready(): Promise<void> {
    this.listening ??= this.database.listen(
      TOKENS_CHANNEL,
      (tokenId) => this.recheck(tokenId),
      () => this.recheck(''),
    );
    await this.listening;
  }

  /** Takes the reply over. */
  open(reader: StreamReader): EventConnection {
    const connection = new EventConnection(reader.reply);
    const answer = { ...reader, connection };
    this.answers.add(answer);
    const heartbeat = setInterval(() => {
      connection.heartbeat();
      void this.endIfRefused(answer);
    }, HEARTBEAT_MS);
    connection.onClose(() => {
      clearInterval(heartbeat);
      this.answers.delete(answer);
    });
    // The access may have ended since the caller was identified, before a notification could reach this answer.
    void this.endIfRefused(answer);
    return connection;
  }

  beforeApplicationShutdown(): void {
    for (const { connection } of this.answers) connection.end();
  }

  private recheck(tokenId: string): void {
    for (const answer of this.answers)
      if (tokenId === '' || answer.tokenId === undefined || answer.tokenId === tokenId) void this.endIfRefused(answer);
  }

  private async endIfRefused({ connection, stillAllowed }: OpenAnswer): Promise<void> {
    // A failed check is no refusal: while Postgres is down nothing can be revoked, and the next heartbeat checks again.
    const isAllowed = await stillAllowed().catch(() => true);
    if (!isAllowed) connection.end();
  }
}

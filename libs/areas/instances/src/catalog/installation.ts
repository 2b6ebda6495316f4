import { Injectable } from '@nestjs/common';
import { Database } from '@slipway/platform-database';
import { InstallationEntity } from './installation.entity.js';

/** Identifies the Slipway installation of this process, to mark the objects that it creates outside of its database. */
@Injectable()
export class Installation {
  private known?: Promise<string>;

  constructor(private readonly database: Database) {}

  /**
   * Returns a UUID, which is read once. Do not call it within a transaction: it opens its own.
   * @throws while Postgres does not answer; a later call reads again
   */
  id(): Promise<string> {
    if (this.known) return this.known;
    const asked = this.read();
    this.known = asked;
    // A failed read is not kept.
    asked.catch(() => (this.known = undefined));
    return asked;
  }

  private async read(): Promise<string> {
    const [row] = await this.database.tx('system', (tx) => tx.repository(InstallationEntity).find());
    if (!row) throw new Error('the table installation is empty: restore its row from a backup of this database');
    return row.id;
  }
}

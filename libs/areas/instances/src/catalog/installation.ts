import { Injectable } from '@nestjs/common';
import { Database } from '@slipway/platform-database';
import { InstallationEntity } from './installation.entity.js';

/** Which Slipway this process belongs to, for the marks on what it makes outside of its database. */
@Injectable()
export class Installation {
  private known?: Promise<string>;

  constructor(private readonly database: Database) {}

  /**
   * A UUID, read once. Not within a transaction: it opens its own.
   * @throws while Postgres does not answer; asked again it looks again
   */
  id(): Promise<string> {
    if (this.known) return this.known;
    const asked = this.read();
    this.known = asked;
    // A failed look is not kept.
    asked.catch(() => (this.known = undefined));
    return asked;
  }

  private async read(): Promise<string> {
    const [row] = await this.database.tx('system', (tx) => tx.repository(InstallationEntity).find());
    if (!row) throw new Error('the table installation is empty: restore its row from a backup of this database');
    return row.id;
  }
}

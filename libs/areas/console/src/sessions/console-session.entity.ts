import { Column, Entity, PrimaryColumn } from 'typeorm';

export type SignInMethod = 'token' | 'hosted';

@Entity({ name: 'console_sessions' })
export class ConsoleSessionEntity {
  @PrimaryColumn({ type: 'text' })
  id: string;

  @Column({ type: 'text' })
  method: SignInMethod;

  @Column({ type: 'text' })
  who: string;

  @Column({ type: 'text' })
  sealed_credentials: string;

  @Column({ type: 'timestamptz', nullable: true })
  renew_at: Date | null;

  @Column({ type: 'timestamptz', default: () => 'now()' })
  created_at: Date;

  @Column({ type: 'timestamptz' })
  expires_at: Date;
}

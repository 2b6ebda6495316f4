import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { parse, serialize } from 'cookie';
import { CONFIG, type Config } from '@slipway/platform-config';

const SECRET = /^[\w-]{43}$/;

type CookieName = 'session' | 'sign_in';

/**
 * The console's cookies: hidden from scripts and from requests of other sites, and under https from other hosts and
 * plain connections.
 */
@Injectable()
export class ConsoleCookies {
  private readonly isSecure: boolean;

  constructor(@Inject(CONFIG) { console: { publicUrl } }: Pick<Config, 'console'>) {
    this.isSecure = publicUrl?.startsWith('https:') ?? false;
  }

  read(cookie: string | undefined, name: CookieName): string | undefined {
    return cookie === undefined ? undefined : parse(cookie)[this.nameOf(name)];
  }

  /** Returns the value of a `Set-Cookie` header. @param value an empty one removes the cookie */
  write(name: CookieName, value: string, maxAgeSeconds: number): string {
    return serialize(this.nameOf(name), value, {
      path: '/',
      httpOnly: true,
      sameSite: 'lax',
      secure: this.isSecure,
      maxAge: value === '' ? 0 : maxAgeSeconds,
    });
  }

  private nameOf(name: CookieName): string {
    return `${this.isSecure ? '__Host-' : ''}slipway_console_${name}`;
  }
}

export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * Returns the id that the database stores: reading it there gives no session. Undefined if the text cannot be a secret.
 */
export function sessionIdOf(secret: string | undefined): string | undefined {
  return secret !== undefined && SECRET.test(secret) ? hash('sha256', secret, 'hex') : undefined;
}

/**
 * Another page of the same site can make the browser send the cookie, but can read neither the cookie nor this text.
 */
export function csrfOf(secret: string): string {
  return createHmac('sha256', secret).update('slipway console csrf').digest('base64url');
}

export function isCsrfOf(secret: string, given: unknown): boolean {
  if (typeof given !== 'string') return false;
  const [mine, theirs] = [Buffer.from(csrfOf(secret)), Buffer.from(given)];
  return mine.length === theirs.length && timingSafeEqual(mine, theirs);
}

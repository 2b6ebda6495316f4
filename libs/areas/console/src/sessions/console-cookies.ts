import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { parse, serialize } from 'cookie';

type Name = 'session' | 'sign_in';

/** The console's cookies: not for scripts, not for requests of other sites, and under https for no other host and no plain connection. */
@Injectable()
export class ConsoleCookies {
  private readonly isSecure: boolean;

  constructor(@Inject(CONFIG) { console: { publicUrl } }: Pick<Config, 'console'>) {
    this.isSecure = publicUrl?.startsWith('https:') ?? false;
  }

  read(cookie: string | undefined, name: Name): string | undefined {
    return cookie === undefined ? undefined : parse(cookie)[this.nameOf(name)];
  }

  /** The value of a `Set-Cookie` header. @param value empty takes the cookie away */
  write(name: Name, value: string, maxAgeSeconds: number): string {
    return serialize(this.nameOf(name), value, {
      path: '/',
      httpOnly: true,
      sameSite: 'lax',
      secure: this.isSecure,
      maxAge: value === '' ? 0 : maxAgeSeconds,
    });
  }

  private nameOf(name: Name): string {
    return `${this.isSecure ? '__Host-' : ''}slipway_console_${name}`;
  }
}

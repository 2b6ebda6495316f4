import { request as httpRequest } from 'node:http';
import { Slipway } from '@slipway/sdk';

export interface ConsoleAnswer {
  status: number;
  headers: Headers;
  text: string;
  body: any;
}

/** Does not use `fetch`, which sets Host itself and normalizes paths. */
export function ask(
  url: string,
  method: string,
  target: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: unknown } = {},
): Promise<ConsoleAnswer> {
  const { hostname, port, host } = new URL(url);
  const text = body === undefined || typeof body === 'string' ? (body as string | undefined) : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      {
        hostname,
        port,
        method,
        path: target,
        headers: { host, ...(text !== undefined && { 'content-type': 'application/json' }), ...headers },
      },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', reject);
        answer.on('end', () => {
          const all = Buffer.concat(chunks).toString();
          const isJson = answer.headers['content-type']?.includes('json') && all !== '';
          resolve({
            status: answer.statusCode ?? 0,
            headers: new Headers(
              Object.entries(answer.headers).flatMap(([name, value]) =>
                [value ?? []].flat().map((one): [string, string] => [name, one]),
              ),
            ),
            text: all,
            body: isJson ? JSON.parse(all) : undefined,
          });
        });
      },
    );
    sent.on('error', reject);
    sent.end(text);
  });
}

export interface BrowserSession {
  cookie: string;
  csrf: string;
}

export async function signInAt(url: string, token: string): Promise<BrowserSession> {
  const answer = await ask(url, 'POST', '/console/session', { body: { token } });
  if (answer.status !== 200) throw new Error(`the sign-in was answered ${answer.status}: ${answer.text}`);
  return { cookie: answer.headers.get('set-cookie')!.split(';', 1)[0]!, csrf: answer.body.csrf };
}

/** The client as the console makes it: with the browser's cookie. */
export function consoleAt(url: string, { cookie, csrf }: BrowserSession): Slipway {
  return new Slipway({
    baseUrl: `${url}/console`,
    token: 'cookie',
    maxRetries: 0,
    fetch: (input, init) => {
      const request = new Request(input, init);
      request.headers.set('cookie', cookie);
      request.headers.set('x-csrf-token', csrf);
      return fetch(request);
    },
  });
}

export const codeIn = ({ status, body }: ConsoleAnswer): string => `${status} ${body?.error?.code}`;

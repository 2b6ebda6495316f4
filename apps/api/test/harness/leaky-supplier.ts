import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An OpenAI-compatible server that puts a name into every part of an answer, except the text of its model. */
export interface LeakySupplier {
  /** Contains the name in its path. */
  baseUrl: string;
  model: string;
  credential: string;
  /** Sets whether it answers errors or works. */
  setFailing(isFailing: boolean): void;
  requests(): number;
  stop(): Promise<void>;
}

export async function startLeakySupplier(name: string): Promise<LeakySupplier> {
  const model = `${name}-large`;
  let isFailing = false;
  let requests = 0;
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requests += 1;
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const body = text === '' ? undefined : JSON.parse(text);
    for (const header of ['server', 'x-powered-by', 'via', 'x-request-id', `x-${name}-region`, 'openai-organization'])
      response.setHeader(header, name);
    response.setHeader('set-cookie', `${name}=${name}`);
    if (isFailing) return send(response, 500, { error: { message: `${name} is down`, type: name, code: name } });
    if (request.url?.endsWith('/models'))
      return send(response, 200, { object: 'list', data: [{ id: model, object: 'model', owned_by: name }] });
    if (body?.model !== model)
      return send(response, 404, {
        error: { message: `${name} has no such model`, type: name, code: name, param: name },
      });
    if (body.max_tokens === 0)
      return send(response, 400, {
        error: { message: `${name}: max_tokens must be positive`, type: name, code: name, param: 'max_tokens' },
      });
    if (body.stream) return stream(response);
    const message = { role: 'assistant', content: 'ready', [name]: name };
    send(response, 200, {
      id: `${name}-1`,
      object: name,
      created: 1,
      model,
      provider: name,
      system_fingerprint: 'fp_1',
      choices: [{ index: 0, message, finish_reason: 'stop', [name]: 1 }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, [name]: 1 },
    });
  }

  function stream(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`: ${name} is working\n\n`);
    for (const content of ['re', 'ady']) {
      response.write(
        `event: ${name}\nid: ${name}\ndata: ${JSON.stringify({ id: name, object: name, created: 1, model, provider: name, choices: [{ index: 0, delta: { content, [name]: name }, finish_reason: null }] })}\n\n`,
      );
    }
    response.end('data: [DONE]\n\n');
  }

  function send(response: ServerResponse, status: number, body: object): void {
    response
      .writeHead(status, { 'content-type': 'application/json', location: `https://${name}.example` })
      .end(JSON.stringify(body));
  }

  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${name}/v1`,
    model,
    credential: `sk-${name}`,
    setFailing: (given) => void (isFailing = given),
    requests: () => requests,
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** Matches the encodings of a name: plain text in any case, base64 at its three offsets, and hex. */
export const tracesOf = (name: string): RegExp[] => [
  new RegExp(name, 'i'),
  ...[0, 1, 2].map((shift) => new RegExp(base64Core(name, shift))),
  new RegExp(Buffer.from(name).toString('hex'), 'i'),
];

/** Returns the middle of the base64 text, which is the same for any text around the name. */
function base64Core(text: string, shift: number): string {
  const encoded = Buffer.from('_'.repeat(shift) + text)
    .toString('base64')
    .replace(/=+$/, '');
  return encoded.slice(shift === 0 ? 0 : 4, -3);
}

// The parsers that read texts of engines, clients and suppliers, each with the longest text that reaches it. `npm run
// build` must have run: they are imported from the compiled libraries by path, because many are not exported.
import { createHash } from 'node:crypto';

const from = (path) => import(`../../${path}.js`);
const KIB = 1024;
/** Node's own limit for all headers of a request. */
const HEADERS = 16 * KIB;
/** Bodies of errors, and answers that are kept whole. */
const ERROR_BODY = 64 * KIB;
const STREAM = 512 * KIB;

const { LineReader } = await from('libs/targets/driver/dist/logs');
const { redactSecrets } = await from('libs/targets/driver/dist/redaction');
const { startFailure, downloadProgress } = await from('libs/targets/driver/dist/start-failure');
const { errorTextOf } = await from('libs/targets/driver/dist/error-text');
const { readEngineLoad } = await from('libs/targets/driver/dist/engine-load');
const { describeModels, readModelList } = await from('libs/targets/driver/dist/model-names');
const { parseGpus, parseMigDevices, parseComputeApps } = await from('libs/targets/process/dist/devices/nvidia-smi');
const { ModelSources } = await from('libs/targets/process/dist/templates/model-sources');
const { eventsOf } = await from('libs/targets/kubernetes/dist/api/watch-lines');
const { labelValue } = await from('libs/targets/kubernetes/dist/manifests/unit-names');
const contracts = await from('libs/contracts/dist/index');
const { createLogger } = await from('libs/platform/observability/dist/logger');
const { oneLine } = await from('libs/platform/config/dist/startup');
const { checkUrl } = await from('libs/platform/egress/dist/rules');
const { clientAddress, proxyList } = await from('libs/platform/bounds/dist/client-address');
const { JsonRefused, JsonScanner } = await from('libs/platform/bounds/dist/json-scanner');
const { assertPreconditions, isUnchanged } = await from('libs/platform/http/dist/answers/etag');
const { decodeCursor } = await from('libs/platform/http/dist/answers/page');
const { nearest } = await from('libs/platform/http/dist/fields/near-miss');
const { isStorable, isTimestamp } = await from('libs/platform/http/dist/fields/read-object');
const { concretePathOf, parseIdempotencyKey } = await from('libs/platform/http/dist/routes/parameters');
const { EventStream } = await from('libs/gateway/dist/answers/event-stream');
const { AnswerJudge, judgeError } = await from('libs/gateway/dist/answers/answer-judge');
const { PassedJsonAnswer, PassedStreamAnswer } = await from('libs/gateway/dist/answers/passed-answer');
const { PublishedJsonAnswer, PublishedStreamAnswer } = await from('libs/gateway/dist/answers/published-answer');
const { chatCompletion, chatCompletionChunk, disguiseAs } = await from('libs/gateway/dist/answers/published-shape');
const { publishedError } = await from('libs/gateway/dist/answers/error-answer');
const { isHostPath, withoutHostPaths } = await from('libs/gateway/dist/answers/host-paths');
const { UsageChunkFilter } = await from('libs/gateway/dist/requests/usage-option');
const { BodyScan } = await from('libs/gateway/dist/requests/request-body');
const { assertWellFormed, pathOf, requestIdOf } = await from('libs/gateway/dist/requests/request-form');
const { parseContentDigest } = await from('libs/areas/sandboxes/dist/files/content-digest');
const { assertFilePath } = await from('libs/areas/sandboxes/dist/files/file-path');
const { headsIn } = await from('libs/areas/audit/dist/expected-heads');
const { MessageParser } = await from('libs/sdk/dist/client/event-stream');
const { remedyOf } = await from('apps/cli/dist/remedies');
const { harmless } = await from('apps/cli/dist/terminal');
const { default: queryString } = await import('fast-querystring');
const { parseCookie } = await import('cookie');

const LOG = [
  '-',
  '--api-key',
  'token=',
  'Bearer ',
  '//',
  ':',
  '@',
  '\r',
  '\u001b[',
  '\u001b]',
  ';#',
  'argument ',
  '"',
  '%|',
];
const JSON_TEXT = [
  '{"',
  '":',
  '[',
  '{"a":',
  '"error":',
  '{"message":"',
  '\\u0041',
  '\\',
  '"model":',
  '1e9',
  '0.',
  ',',
  ']',
  '}',
];
const EVENTS = [
  'data:',
  'data: {"',
  '"choices"',
  ':',
  '\n',
  '\r',
  '\n\n',
  'event:',
  'error:',
  '{"model":',
  '[',
  '\\"',
  ' ',
  '"',
];
const HEADER = [' ', ',', ';', '=', '"', '\\"', 'W/"', '\t', ':', '/', '100-continue', '\u00a0', 'a', '0', '%', '&'];
const HTML = ['<', '<title', '<title>', '</', '<h1', '>', '<script', ' ', '\n', '&lt;'];
const SECRET = 'correct-horse-battery';
const DISGUISE = disguiseAs('acme/chat');

const response = () => ({
  headersSent: false,
  writableEnded: false,
  writableNeedDrain: false,
  write: () => true,
  end: () => undefined,
  once: () => undefined,
  writeHead: () => undefined,
  setHeader: () => undefined,
  flushHeaders: () => undefined,
});
const published = (shape) => ({
  response: response(),
  own: {},
  bytes: { take: () => undefined, give: () => undefined, release: () => undefined },
  path: '/v1/chat/completions',
  shape: shape(DISGUISE),
  parameters: ['model'],
});
/** An error that a caller turns into an answer: it has a code or a status. */
const isRefusal = (error) =>
  error instanceof JsonRefused || error?.code !== undefined || typeof (error?.status ?? error?.statusCode) === 'number';
const events = { 'content-type': 'text/event-stream' };
const pushed = (answer, headers) => {
  answer.begin(200, headers);
  return { push: (bytes) => answer.data(bytes), end: () => answer.end() };
};
const driver = (name) => `libs/targets/driver/src/${name}.ts`;
const gateway = (name) => `libs/gateway/src/${name}.ts`;

/**
 * A parser reads its text at once (`run`) or read by read (`open`), which is then measured for each read.
 * `files` have expressions whose attacks it gets in addition to its own `atoms`. `refuses` recognizes its refusals.
 */
export const TARGETS = [
  {
    name: 'lines of an engine',
    max: STREAM,
    atoms: [...LOG, '\n'],
    files: [driver('logs'), driver('redaction')],
    open() {
      const reader = new LineReader([SECRET]);
      return { push: (bytes) => [...reader.push(bytes)], end: () => reader.rest() };
    },
  },
  {
    name: 'redaction of a line',
    max: 128 * KIB,
    atoms: LOG,
    files: [driver('redaction')],
    run: (text) => redactSecrets(text, [SECRET, 'a'.repeat(5_000) + 'b', 'ab'.repeat(2_000)], true),
  },
  {
    name: 'cause of a failed start',
    max: 16 * KIB,
    atoms: [
      ...LOG,
      'no such file or directory',
      '.gguf',
      "couldn't find ",
      'failed to allocate ',
      'free memory on device ',
    ],
    run: (text) =>
      startFailure(
        { code: 1, signal: null },
        Array.from({ length: 400 }, () => ({ stream: 'stderr', text })),
      ),
  },
  {
    name: 'progress of a download',
    max: 16 * KIB,
    atoms: [...LOG, '45%|', '| ', '1.0G/', ' [', 'B/s'],
    files: [driver('start-failure')],
    run: (text) => downloadProgress(Array.from({ length: 400 }, () => ({ stream: 'stderr', text }))),
  },
  {
    name: 'text of an error',
    max: ERROR_BODY,
    atoms: [...JSON_TEXT, ...HTML],
    files: [driver('redaction')],
    run: errorTextOf,
  },
  {
    name: 'metrics of an engine',
    max: 1024 * KIB,
    atoms: ['vllm:num_requests_waiting', '{', '}', ' ', '\n', '"', '1', '# HELP ', '\t'],
    files: [driver('engine-load')],
    run: (text) => readEngineLoad(text, { waiting: 'vllm:num_requests_waiting', kv_usage: ['a', 'b'] }),
  },
  {
    name: 'list of models',
    max: 1024 * KIB,
    atoms: ['a', '/', '\u202e', '\ud800', '.gguf', ':latest', '*'],
    run: (text) => describeModels(readModelList({ data: [{ id: text }] })[0].names),
  },
  {
    name: 'output of nvidia-smi',
    max: 256 * KIB,
    atoms: [' ', 'MIG ', 'Device ', 'GPU 0: ', '(UUID: ', '\n', ',', '0'],
    files: ['libs/targets/process/src/devices/nvidia-smi.ts'],
    run: (text) => [parseGpus(text), parseMigDevices(text), parseComputeApps(text)],
  },
  {
    name: "model of a revision against the operator's sources",
    max: 4 * KIB,
    atoms: ['/', 'a', '/a', '*', '.', '-', 'org/'],
    run: (text) =>
      new ModelSources([`/srv/${'*a'.repeat(100)}/**/x`, `hf:${'*a'.repeat(40)}/*b`, '/**/b']).problemOf(text),
  },
  {
    name: 'watch of the Kubernetes API',
    max: 128 * KIB,
    atoms: [...JSON_TEXT, '\n', '{"type":"ADDED","object":{'],
    refuses: (error) => error.name === 'BrokenWatchError',
    async run(text) {
      async function* reads() {
        for (let at = 0; at < text.length; at += 10) yield Buffer.from(text.slice(at, at + 10));
      }
      for await (const _ of eventsOf(reads(), () => undefined));
    },
  },
  {
    name: 'labels of Kubernetes',
    max: 64 * KIB,
    atoms: ['-', 'a', '.', '!'],
    files: ['libs/targets/kubernetes/src/manifests/unit-names.ts'],
    run: labelValue,
  },
  {
    name: 'error of an engine or supplier',
    max: ERROR_BODY,
    atoms: [...JSON_TEXT, ...HTML, 'maximum', 'context', 'prompt ', '1,', ' tokens'],
    files: ['libs/contracts/src/engine-error.ts', gateway('answers/host-paths')],
    run(text) {
      const error = contracts.errorInText(text);
      contracts.errorKind(error);
      contracts.contextNumbers(error);
      withoutHostPaths(error.message, 'org/model', 'chat');
      publishedError(400, judgeError(400, {}, text), ['model']);
    },
  },
  {
    name: 'message of an error',
    max: ERROR_BODY,
    atoms: ['maximum', 'context', 'prompt ', '1,', ' tokens', 'image', 'not support', 'model ', '.', 'inputs', ' '],
    files: ['libs/contracts/src/engine-error.ts'],
    run(text) {
      const error = contracts.errorInText(JSON.stringify({ error: { message: text, code: text } }));
      contracts.errorKind(error);
      contracts.contextNumbers(error);
    },
  },
  {
    name: 'paths in a text of an engine',
    max: ERROR_BODY,
    atoms: ['/', '/a', '~', '@', 'C:\\', 'file://', '.', '/v1', ' ', 'a'],
    files: [gateway('answers/host-paths')],
    run: (text) => [isHostPath(text), withoutHostPaths(text, 'org/model', 'chat')],
  },
  {
    name: 'base URLs',
    max: 8 * KIB,
    atoms: ['/', 'http://', 'a', ':', '@', '.', '/v1', '*', '[', '0'],
    files: [
      'libs/contracts/src/server-urls.ts',
      'libs/contracts/src/allow-pattern.ts',
      'libs/platform/egress/src/rules.ts',
    ],
    run: (text) => [
      contracts.serverUrls(text),
      contracts.parseAllowPattern(text),
      checkUrl(['http://*.example.com:*'], text),
    ],
  },
  {
    name: 'credentials',
    max: HEADERS,
    atoms: ['slw_', '-', '_', 'Bearer ', 'a', ' '],
    files: ['libs/contracts/src/identity.ts'],
    run: (text) => contracts.parseToken(text),
  },
  {
    name: 'lines of our own log',
    max: 256 * KIB,
    atoms: [...LOG, 'slw_', 'postgres://', 'a-'],
    files: ['libs/platform/observability/src/logger.ts'],
    run: (text) =>
      createLogger({ service: 'api', level: 'info', destination: { write: () => undefined } }).warn({ text }, text),
  },
  {
    name: 'errors on one line',
    max: 256 * KIB,
    atoms: [' ', '\n', '\t', 'a'],
    run: (text) => oneLine(new Error(text)),
  },
  {
    name: 'X-Forwarded-For',
    max: HEADERS,
    atoms: [',', ' ', '10.0.0.1', '::1', ':', 'a'],
    run: (text) => clientAddress('10.0.0.1', text, proxyList('10.0.0.0/8, ::1')),
  },
  {
    name: 'headers of the api',
    max: HEADERS,
    atoms: HEADER,
    files: [
      'libs/platform/http/src/answers/etag.ts',
      'libs/platform/http/src/routes/parameters.ts',
      'libs/areas/sandboxes/src/files/content-digest.ts',
    ],
    run(text) {
      isUnchanged(text, '"a"');
      parseCookie(text);
      for (const read of [
        () => assertPreconditions({ ifMatch: text, ifNoneMatch: text }, '"a"'),
        () => parseIdempotencyKey(text),
        () => parseContentDigest(text),
      ])
        try {
          read();
        } catch (error) {
          if (!isRefusal(error)) throw error;
        }
    },
  },
  {
    name: 'query strings and paths of the api',
    max: HEADERS,
    atoms: [...HEADER, '%2F', '?', '__proto__', '[]', '+'],
    // The router refuses such a path before.
    refuses: (error) => error instanceof URIError,
    run: (text) => [queryString.parse(text), concretePathOf(`/api/v1/${text}`), nearest(text, ['limit', 'cursor'])],
  },
  {
    name: 'cursors',
    max: HEADERS,
    atoms: ['W1', 'WyJh', 'Ww', '=', 'a', '_', '-'],
    refuses: isRefusal,
    run: (text) => decodeCursor(text, ['timestamp', 'string']),
  },
  {
    name: 'cursors with long JSON',
    max: HEADERS,
    atoms: JSON_TEXT,
    refuses: isRefusal,
    run: (text) => decodeCursor(Buffer.from(text).toString('base64url'), ['string']),
  },
  {
    name: 'texts of fields',
    max: 1024 * KIB,
    atoms: ['2026-01-01T00:00:00', 'Z', '.0', '\ud800', '\0', '+', ':', '0'],
    files: ['libs/platform/http/src/fields/read-object.ts'],
    run: (text) => [isTimestamp(text), isStorable(text)],
  },
  {
    name: 'paths of files in sandboxes',
    max: HEADERS,
    atoms: ['/', 'a', '.', '..', '%', '\\', '\0'],
    refuses: isRefusal,
    run: (text) => assertFilePath(text),
  },
  {
    name: 'JSON of any length',
    max: 1024 * KIB,
    atoms: JSON_TEXT,
    refuses: isRefusal,
    open() {
      const scanner = new JsonScanner({ maxDepth: 128, isUnicode: true });
      return { push: (bytes) => scanner.push(bytes), end: () => scanner.end() };
    },
  },
  {
    name: 'body of an inference request',
    max: 1024 * KIB,
    atoms: JSON_TEXT,
    refuses: isRefusal,
    open() {
      const scan = new BodyScan();
      const pieces = [];
      return { push: (bytes) => (pieces.push(bytes), scan.push(bytes)), end: () => scan.end(Buffer.concat(pieces)) };
    },
  },
  {
    name: 'head of an inference request',
    max: HEADERS,
    atoms: HEADER,
    files: [gateway('requests/request-form')],
    refuses: isRefusal,
    run(text) {
      const headers = { host: 'a', expect: text, 'x-request-id': text };
      pathOf(`/v1/${text}`);
      requestIdOf({ headers });
      assertWellFormed({ headers, rawHeaders: ['host', 'a'], httpVersion: '1.1' });
    },
  },
  {
    name: 'stream of an engine',
    max: STREAM,
    atoms: EVENTS,
    open() {
      const stream = new EventStream(
        { event: () => undefined, piece: () => undefined, endOfPieces: () => undefined },
        16 * KIB,
      );
      return { push: (bytes) => stream.push(bytes), end: () => stream.end() };
    },
  },
  {
    name: 'verdict on a stream',
    max: STREAM,
    atoms: EVENTS,
    files: [gateway('answers/event-shape')],
    open() {
      const judge = new AnswerJudge('/v1/chat/completions', 200, events);
      return { push: (bytes) => judge.push(bytes, 0), end: () => judge.end() };
    },
  },
  {
    name: 'verdict on an answer',
    max: STREAM,
    atoms: JSON_TEXT,
    open() {
      const judge = new AnswerJudge('/v1/chat/completions', 200, {});
      return { push: (bytes) => judge.push(bytes, 0), end: () => judge.end() };
    },
  },
  {
    name: 'stream that is passed on',
    max: STREAM,
    atoms: EVENTS,
    refuses: isRefusal,
    open: () => pushed(new PassedStreamAnswer(response(), {}, Buffer.from('"chat"')), events),
  },
  {
    name: 'answer that is passed on',
    max: STREAM,
    atoms: JSON_TEXT,
    refuses: isRefusal,
    open: () => pushed(new PassedJsonAnswer(response(), {}, Buffer.from('"chat"')), {}),
  },
  {
    name: 'stream of a published product',
    max: STREAM,
    atoms: EVENTS,
    files: [gateway('answers/event-shape')],
    refuses: isRefusal,
    open: () => pushed(new PublishedStreamAnswer(published(chatCompletionChunk)), events),
  },
  {
    name: 'answer of a published product',
    max: STREAM,
    atoms: JSON_TEXT,
    refuses: isRefusal,
    open: () => pushed(new PublishedJsonAnswer(published(chatCompletion)), {}),
  },
  {
    name: 'usage in a stream',
    max: STREAM,
    atoms: EVENTS,
    files: [gateway('requests/usage-option')],
    open() {
      const filter = new UsageChunkFilter();
      return { push: (bytes) => filter.push(bytes), end: () => filter.end() };
    },
  },
  {
    name: 'heads of audit logs',
    max: 1024 * KIB,
    atoms: ['a', '.', ':', '0', createHash('sha256').digest('hex'), '\n'],
    files: ['libs/areas/audit/src/expected-heads.ts'],
    run: headsIn,
  },
  {
    name: "stream of the api in the client's hands",
    max: 4 * 1024 * KIB,
    atoms: ['data: ', 'a', '\n', '\r', ':', 'id: ', ' '],
    open() {
      const parser = new MessageParser();
      return { push: (bytes) => parser.push(bytes.toString('latin1')) };
    },
  },
  {
    name: 'remedies in the CLI',
    max: 256 * KIB,
    atoms: ['GET /api/v1/', ' {"', '}', "'", '/', '.a', 'deployments'],
    files: ['apps/cli/src/remedies.ts'],
    run: remedyOf,
  },
  { name: 'texts on a terminal', max: 512 * KIB, atoms: LOG, run: harmless },
];

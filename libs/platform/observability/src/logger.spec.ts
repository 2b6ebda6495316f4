import { expect, it } from '@jest/globals';
import { createLogger, NestLogger, withLogContext, type Logger } from './index.js';

const capture = (level = 'trace'): { logger: Logger; lines: Record<string, unknown>[]; text(): string } => {
  const raw: string[] = [];
  const logger = createLogger({ service: 'api', level, destination: { write: (line: string) => void raw.push(line) } });
  return {
    logger,
    get lines() {
      return raw.map((line) => JSON.parse(line) as Record<string, unknown>);
    },
    text: () => raw.join(''),
  };
};

it('writes JSON with service, pid, level, time and the ids of the current work', async () => {
  const log = capture();
  await withLogContext({ request_id: 'r1', tenant_id: 't1' }, async () => {
    await Promise.resolve();
    withLogContext({ operation_id: 'op_1' }, () => log.logger.info({ step: 'provision' }, 'committed'));
  });
  log.logger.info('outside');
  expect(log.lines[0]).toMatchObject({
    level: 'info',
    service: 'api',
    pid: process.pid,
    request_id: 'r1',
    tenant_id: 't1',
    operation_id: 'op_1',
    step: 'provision',
    msg: 'committed',
    time: expect.stringMatching(/Z$/),
  });
  expect(log.lines[1]).not.toHaveProperty('request_id');
});

it('writes only lines of the configured level and above', () => {
  const log = capture('warn');
  log.logger.info('no');
  log.logger.warn('yes');
  expect(log.lines.map((line) => line['msg'])).toEqual(['yes']);
});

it('redacts every secret, in fields and inside texts', () => {
  const log = capture();
  const secret = 'sentinel0123456789abcdef0123456789abcdef';
  log.logger.info(
    {
      token: secret,
      headers: { authorization: `Bearer ${secret}` },
      req: { headers: { authorization: secret, cookie: secret } },
      reference: { credential: secret },
    },
    'fields',
  );
  log.logger.info(
    `got slw_abc123_${secret}, "Authorization: bearer ${secret}", postgres://app:${secret}@127.0.0.1:5432/slipway`,
  );
  log.logger.error(new Error(`connect to redis://:${secret}@r failed`));
  expect(log.text()).not.toContain('sentinel');
  expect(log.lines).toHaveLength(3);
  expect(log.lines[1]?.['msg']).toBe(
    'got slw_abc123_[redacted], "Authorization: bearer [redacted]", postgres://app:[redacted]@127.0.0.1:5432/slipway',
  );
});

it('writes the contexts, stacks and objects of Nest, and its wiring only at debug', () => {
  const log = capture();
  const nest = new NestLogger(log.logger);
  nest.log('Mapped {/x, GET}', 'RouterExplorer');
  nest.log('listening', 'api');
  nest.error('broke', 'Error: broke\n    at x (y.js:1:1)', 'worker');
  nest.error(new Error('thrown'), 'worker');
  nest.warn({ code: 'x' }, 'worker');
  nest.verbose('detail');
  expect(log.lines.map(({ level, context, msg }) => [level, context, msg])).toEqual([
    ['debug', 'RouterExplorer', 'Mapped {/x, GET}'],
    ['info', 'api', 'listening'],
    ['error', 'worker', 'broke'],
    ['error', 'worker', 'thrown'],
    ['warn', 'worker', undefined],
    ['trace', undefined, 'detail'],
  ]);
  expect(log.lines[2]?.['stack']).toContain('y.js');
  expect(log.lines[3]?.['err']).toMatchObject({ message: 'thrown' });
  expect(log.lines[4]?.['code']).toBe('x');
});

it('redacts a password in a URL of any scheme, also behind a long text', () => {
  const log = capture();
  log.logger.info(`${'a-'.repeat(200_000)} amqp+ssl://app:sentinel@host`);
  expect(log.lines[0]?.['msg']).toMatch(/ amqp\+ssl:\/\/app:\[redacted\]@host$/);
});

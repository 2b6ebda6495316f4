/** The files that may send plain requests, each with what the product's client cannot do there. */
export const PLAIN = {
  'apps/api/test/audit/audit.e2e.spec.ts': 'contract: every operation of the document, and bodies that no client sends',
  'apps/api/test/contract/authorization.e2e.spec.ts':
    'contract: every operation of the document, with every token and none',
  'apps/api/test/identity/console-access.e2e.spec.ts': 'contract: a rehearsal that the client does not offer',
  'apps/api/test/console/console-hosted.e2e.spec.ts': "contract: the console's cookies and redirects, as HTTP has them",
  'apps/api/test/console/console-session.e2e.spec.ts':
    "contract: the console's cookie and its proof, present and missing",
  'apps/api/test/contract/client.ts':
    'contract and fuzz: every operation of the document, and bodies that no client sends',
  'apps/api/test/contract/order-of-checks.ts': 'contract: requests with several faults at once',
  'apps/api/test/contract/docs.e2e.spec.ts': 'contract: the examples of the document, exactly as it has them',
  'apps/api/test/events/event-soak.e2e.spec.ts': 'fault: connections that are cut at a byte',
  'apps/api/test/events/event-streams.e2e.spec.ts': 'contract: a stream as HTTP has it, with its headers and its end',
  'apps/api/test/contract/idempotency.e2e.spec.ts': 'contract: every operation that takes a key',
  'apps/api/test/security/isolation.e2e.spec.ts':
    'fault: what is timed is the api, over connections that are there already',
  'apps/api/test/gateway/model-api.e2e.spec.ts': 'contract: every byte of every answer, headers too',
  'apps/api/test/operating/process.e2e.spec.ts': 'fault: the end of a stream, which the client hides',
  'tools/bench/src/benchmarks/event-pages.ts': 'what is timed is the api alone',
  'tools/bench/src/benchmarks/growth.ts': 'what is timed is the product alone',
  'tools/bench/src/benchmarks/reads.ts': 'what is timed is the api alone',
  'tools/bench/src/benchmarks/watchers.ts': 'what is timed is the api alone',
  'tools/bench/src/benchmarks/writes.ts': 'what is timed is the api alone',
};

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from '@jest/globals';

const DOCKER = path.resolve(import.meta.dirname, '../../../docker');
const { dockerfileProblems, targetsIn } = (await import(path.join(DOCKER, 'dockerfile-rules.mjs'))) as {
  dockerfileProblems(text: string): string[];
  targetsIn(text: string): Map<string, { name: string; value: string }[]>;
};
const TEXT = readFileSync(path.join(DOCKER, 'Dockerfile'), 'utf8');

it('the images are api, worker and gateway, each with the instructions of the stage that they share', () => {
  const targets = targetsIn(TEXT);
  expect([...targets.keys()]).toEqual(['api', 'worker', 'gateway']);
  for (const image of targets.values()) expect(image).toContainEqual({ name: 'USER', value: '1000:1000' });
});

it('the images run as a user without privileges, and own none of their code', () => {
  expect(dockerfileProblems(TEXT)).toEqual([]);
});

it.each([
  ['USER 1000:1000', '', 'must end as a numbered user'],
  ['USER 1000:1000', 'USER 0:0', 'must end as a numbered user'],
  ['USER 1000:1000', 'USER node', 'must end as a numbered user'],
  ['USER 1000:1000', 'USER 1000:1000\nUSER root', 'must end as a numbered user'],
  ['COPY --from=build /bundles/worker', 'USER root\nCOPY --from=build /bundles/worker', 'worker must end as a'],
  ['COPY --from=build /bundles/api', 'COPY --chown=1000 --from=build /bundles/api', 'own none of its code'],
  ['COPY --from=build /bundles/api', 'COPY --chmod=777 --from=build /bundles/api', 'own none of its code'],
  ['USER 1000:1000', 'RUN chown -R node /app\nUSER 1000:1000', 'own none of its code'],
  ['USER 1000:1000', 'RUN install -d -o 1000 /app/libs\nUSER 1000:1000', 'own none of its code'],
  ['-m 0700 /var/lib/slipway', '-m 0700 /var/lib/slipway && chmod -R a+w /app', 'own none of its code'],
  ['ENV NODE_ENV=production', 'ENV SLIPWAY_METRICS_TOKEN=x NODE_ENV=production', 'must hold no secret'],
  ['/healthz', '/', 'gateway has no HEALTHCHECK'],
])('the file is refused if %s becomes %s', (from, to, problem) => {
  expect(TEXT).toContain(from);
  expect(dockerfileProblems(TEXT.replaceAll(from, to)).join('\n')).toContain(problem);
});

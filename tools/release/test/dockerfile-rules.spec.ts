import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';

const DOCKER = path.resolve(import.meta.dirname, '../../../docker');
const { dockerfileProblems } = (await import(path.join(DOCKER, 'dockerfile-rules.mjs'))) as {
  dockerfileProblems(text: string): string[];
};
const textOf = (app: string): string => readFileSync(path.join(DOCKER, `${app}.Dockerfile`), 'utf8');

describe.each(['api', 'worker', 'gateway'])('the image of the %s', (app) => {
  it('runs as a user without privileges, and owns none of its code', () => {
    expect(dockerfileProblems(textOf(app))).toEqual([]);
  });

  it.each([
    ['USER 1000:1000', '', 'must end as a numbered user'],
    ['USER 1000:1000', 'USER 0:0', 'must end as a numbered user'],
    ['USER 1000:1000', 'USER node', 'must end as a numbered user'],
    ['USER 1000:1000', 'USER 1000:1000\nUSER root', 'must end as a numbered user'],
    ['COPY --from=build /app/libs', 'COPY --chown=1000 --from=build /app/libs', 'own none of its code'],
    ['COPY --from=build /app/libs', 'COPY --chmod=777 --from=build /app/libs', 'own none of its code'],
    ['USER 1000:1000', 'RUN chown -R node /app\nUSER 1000:1000', 'own none of its code'],
    ['USER 1000:1000', 'RUN install -d -o node /app/libs\nUSER 1000:1000', 'own none of its code'],
    ['-m 0700 /var/lib/slipway', '-m 0700 /var/lib/slipway && chmod -R a+w /app', 'own none of its code'],
    ['ENV NODE_ENV=production', 'ENV SLIPWAY_METRICS_TOKEN=x NODE_ENV=production', 'must hold no secret'],
    ['/healthz', '/', 'has no HEALTHCHECK'],
  ])('is refused if %s becomes %s', (from, to, problem) => {
    const text = textOf(app);
    expect(text).toContain(from);
    expect(dockerfileProblems(text.replaceAll(from, to)).join('\n')).toContain(problem);
  });
});

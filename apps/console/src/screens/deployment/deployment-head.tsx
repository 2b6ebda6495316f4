import { isProduction, shownDeploymentState } from '@slipway/sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { actorName } from '../../api/actor-name.js';
import type { Deployment } from '../../api/items.js';
import type { LiveEvents } from '../../api/live-events.js';
import { whoQuery } from '../../api/who.js';
import { Chip } from '../../ui/chip.js';
import { ScreenHead } from '../../ui/panel.js';
import { Time, useNow } from '../../ui/time.js';
import { costText } from '../../ui/text/number-text.js';
import { lengthText } from '../../ui/text/time-text.js';
import { useDeployment, useRevisions, useRoute } from './deployment-data.js';
import { actorText, shortDigest } from './short-text.js';

/** The deployment's name and owner, its state, and its last change. */
export function DeploymentHead({ name, live, actions }: { name: string; live: LiveEvents; actions: ReactNode }) {
  const deployment = useDeployment(name);
  const { data } = deployment;
  return (
    <div>
      <ScreenHead
        title={name}
        note={
          data && (
            <>
              <Chip word={shownDeploymentState(data)} />
              <Health deployment={data} />
              {data.environment && (
                <Chip word={data.environment} tone={isProduction(data.environment) ? 'warn' : 'plain'} />
              )}
              <Liveness live={live} readAt={deployment.dataUpdatedAt} />
            </>
          )
        }
        actions={actions}
      />
      <dl className="-mt-2 mb-3 flex flex-wrap gap-x-4 gap-y-1 text-xs">
        <DeploymentFacts name={name} deployment={data} live={live} />
      </dl>
    </div>
  );
}

function Health({ deployment: { replicas, conditions } }: { deployment: Deployment }) {
  const isWhole = replicas.ready >= replicas.desired;
  const why = conditions.map(({ type, status, message }) => `${type}: ${status}. ${message}`).join('\n');
  return (
    <span title={why}>
      <Chip word="ready" tone={isWhole ? 'good' : 'bad'}>
        {replicas.ready} of {replicas.desired} instances ready
      </Chip>
    </span>
  );
}

/** Shows the freshness of the screen in words, so that stale data is always noticed. */
function Liveness({ live, readAt }: { live: LiveEvents; readAt: number }) {
  const now = useNow();
  const age = lengthText(Math.max(0, now - readAt));
  if (live.state === 'live') return <span className="text-xs text-soft">Live · updated {age} ago</span>;
  if (live.state === 'starting')
    return <span className="text-xs text-soft">Connecting to events · updated {age} ago</span>;
  return (
    <span role="status" className="text-xs text-bad" title={live.error?.message}>
      Events disconnected for {lengthText(Math.max(0, now - live.since))} · updated {age} ago
    </span>
  );
}

function DeploymentFacts({ name, deployment, live }: { name: string; deployment?: Deployment; live: LiveEvents }) {
  const { data: who } = useQuery(whoQuery);
  const { data: route } = useRoute(name);
  const { data: revisions } = useRevisions(name);
  const active = revisions?.pages
    .flatMap(({ data }) => data)
    .find((revision) => revision.name === deployment?.active_revision);
  // The worker executes the requests of people: this line shows the person.
  const byHand = live.events.findLast(({ event }) => !event.actor.startsWith('system:'))?.event;
  return (
    <>
      <Fact term="Tenant">{who?.tenant.name ?? '–'}</Fact>
      <Fact term="Environment">{deployment?.environment ?? 'none'}</Fact>
      <Fact term="Active">{deployment?.active_revision ?? 'none yet'}</Fact>
      <Fact term="Digest">
        {active ? <code title={active.spec_digest}>{shortDigest(active.spec_digest)}</code> : '–'}
      </Fact>
      <Fact term="Candidate">{deployment?.candidate_revision ?? 'none'}</Fact>
      {deployment?.cost && <Fact term="Cost">{costText(deployment.cost)}</Fact>}
      <Fact term="Last changed">
        {byHand ? (
          <>
            {byHand.type} <Time at={byHand.time} /> by {actorText(byHand.actor)}
          </>
        ) : route ? (
          <>
            route <Time at={route.updated_at} /> by {actorName(route.updated_by)}
          </>
        ) : (
          <>
            <Time at={deployment?.updated_at} /> by {deployment ? actorName(deployment.created_by) : '–'}
          </>
        )}
      </Fact>
    </>
  );
}

function Fact({ term, children }: { term: string; children: ReactNode }) {
  return (
    <div className="flex gap-1">
      <dt className="text-soft">{term}</dt>
      <dd className="min-w-0 font-medium wrap-anywhere">{children}</dd>
    </div>
  );
}

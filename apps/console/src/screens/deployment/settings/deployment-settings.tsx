import { useNavigate } from '@tanstack/react-router';
import { request as deletion } from 'request:deleteDeployment';
import { request as restarting } from 'request:restartDeployment';
import { request as routing } from 'request:setRoute';
import { request as change } from 'request:updateDeployment';
import { isProduction } from '@slipway/sdk';
import { ActionButtons, useActions } from '../../../actions/action-dialog.js';
import { defineAction, type Action } from '../../../actions/action.js';
import { slipway } from '../../../api/client.js';
import type { Deployment, Revision } from '../../../api/items.js';
import { SelectField } from '../../../ui/field.js';
import { useDeployment, useRevisions, useRoute, type Route } from '../deployment-data.js';
import { keyOf } from '../renewal.js';
import { canServe, weightsFault } from './route-form.js';
import { RESTART, SET_ROUTE, SET_ROUTE_CLI, UPDATE_DEPLOYMENT } from './settings-layout.js';

/** A deployment with what its route is chosen from. */
interface RoutedDeployment {
  deployment: Deployment;
  route: Route | null;
  revisions: readonly Revision[];
}

const ids = ({ deployment: { name } }: RoutedDeployment) => [name];
const nameInProduction = ({ deployment: { name, environment } }: RoutedDeployment) =>
  isProduction(environment) ? name : undefined;

/** @param onDeleting gets the operation that deletes it */
const deploymentActions = (onDeleting: (operation: string) => void): Action<RoutedDeployment>[] => [
  defineAction<'updateDeployment'>()<RoutedDeployment>({
    request: change,
    verb: 'Save',
    button: 'Edit',
    title: ({ deployment }) => `Edit ${deployment.name}`,
    description: 'An emptied field gets its default. A running rollout keeps the settings that it started with.',
    nameToType: nameInProduction,
    layout: () => UPDATE_DEPLOYMENT,
    value: ({ deployment }) => deployment,
    isPatch: true,
    ids,
    // Without its etag, which changes with every step of a rollout: the patch has only what the person changed.
    cli: { words: 'deployments update', end: '--yes' },
    run: ({ deployment }, body) => slipway.deployments.update(deployment.name, body),
    done: ({ name }) => `Deployment ${name} changed`,
  }),
  defineAction<'setRoute'>()<RoutedDeployment>({
    request: routing,
    verb: 'Set route',
    title: ({ deployment }) => `Route of ${deployment.name}`,
    description:
      'Gateways apply the weights at once, without steps and without a gate. A rollout moves traffic in steps.',
    isFor: ({ revisions }) => revisions.some(canServe),
    isDangerous: true,
    isOpenedPlainly: true,
    nameToType: nameInProduction,
    layout: () => SET_ROUTE,
    value: ({ route, revisions }) => ({
      targets: route?.targets ?? [{ revision: revisions.find(canServe)?.name, weight: 100 }],
      affinity: route?.affinity,
    }),
    widgets: (form, { route, revisions }) => ({
      'targets[].revision': (path) => (
        <SelectField
          label="Revision"
          required
          value={String(form.at(path) ?? '')}
          onChange={(event) => form.change(path, event.target.value)}
        >
          <option value="">Choose…</option>
          {revisions.map((one) => (
            // A revision that is down may keep its share.
            <option
              key={one.id}
              value={one.name}
              disabled={!canServe(one) && !route?.targets.some(({ revision }) => revision === one.name)}
            >
              {one.number}: {one.spec.model.id}, {one.state}
            </option>
          ))}
        </SelectField>
      ),
    }),
    effect: (_, { targets }) => {
      const fault = weightsFault(targets ?? []);
      return (
        fault && (
          <p role="status" className="text-bad">
            {fault}
          </p>
        )
      );
    },
    ids,
    etag: ({ route }) => route?.etag,
    cli: SET_ROUTE_CLI,
    run: ({ deployment }, body, options) => slipway.deployments.route.set(deployment.name, body, options),
    done: ({ deployment }) => `Route of ${deployment} set`,
  }),
  defineAction<'restartDeployment'>()<RoutedDeployment>({
    request: restarting,
    verb: 'Restart',
    title: ({ deployment }) => `Restart the instances of ${deployment.name}`,
    description:
      'New instances of the same revision replace those that serve, one after the other. The route does not change.',
    isFor: ({ deployment, route }) => deployment.active_revision !== null || route !== null,
    nameToType: nameInProduction,
    layout: () => RESTART,
    ids,
    cli: {
      words: 'deployments restart',
      flags: { hold_seconds: '--hold', progress_deadline_seconds: '--progress-deadline' },
      end: '--yes',
    },
    run: ({ deployment }, body) => slipway.deployments.restart(deployment.name, body),
    done: (_, { deployment }) => `Restart of ${deployment.name} started`,
  }),
  defineAction<'deleteDeployment'>()<RoutedDeployment>({
    request: deletion,
    verb: 'Delete',
    isDangerous: true,
    title: ({ deployment }) => `Delete ${deployment.name}?`,
    nameToType: ({ deployment }) => deployment.name,
    effect: ({ deployment }) => (
      <p>
        Clients that send {deployment.name} as model get 404, and its instances stop when their requests have ended. You
        cannot undo this.
      </p>
    ),
    ids,
    cli: { words: 'deployments delete', end: '--yes' },
    run: ({ deployment }) => slipway.deployments.delete(deployment.name),
    done: (_, { deployment }) => `Deletion of ${deployment.name} started`,
    onDone: ({ operation }) => onDeleting(operation.id),
  }),
];

/** Edits a deployment, sets its route by hand, restarts its instances, and deletes it. */
export function DeploymentSettings({ name }: { name: string }) {
  const navigate = useNavigate();
  const { data: deployment } = useDeployment(name);
  const { data: route } = useRoute(name);
  const { data: revisions } = useRevisions(name);
  const { open, dialog } = useActions<RoutedDeployment>(
    ...['deployment', 'route', 'revisions', 'operations'].map((what) => keyOf(what, name)),
    ['deployments'],
  );
  const actions = deploymentActions((id) => void navigate({ to: '/operations/$id', params: { id } }));
  if (!deployment || route === undefined) return dialog;
  const row = { deployment, route, revisions: revisions?.pages.flatMap(({ data }) => data) ?? [] };
  return (
    <>
      <ActionButtons actions={actions} row={row} onOpen={open} />
      {dialog}
    </>
  );
}

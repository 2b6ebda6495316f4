import { shellLine } from '../../ui/shell-line.js';

/** What the dialog has gathered, as the api takes it. */
export interface NewDeployment {
  name: string;
  display_name?: string;
  description?: string;
  environment?: string;
  labels?: Record<string, string>;
}

/** As the api has it. */
export const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** The same as a line of the CLI. */
export function createLine({ name, display_name, description, environment, labels = {} }: NewDeployment): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  const flags: [string, string | undefined][] = [
    ['--display-name', display_name],
    ['--description', description],
    ['--environment', environment],
    ['--labels', pairs.join(',') || undefined],
  ];
  const words = flags.flatMap(([flag, value]) => (value === undefined ? [] : [flag, value]));
  return shellLine('slipway', 'deployments', 'create', name, ...words);
}

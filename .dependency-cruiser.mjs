/**
 * Libraries of the platform, each with the folder order inside it. A library or folder may import the ones before it.
 */
const PLATFORM = ['observability', 'bounds', 'config', 'egress', 'database', 'http', 'durable'];
const DURABLE = ['scheduling', 'queue', 'quotas', 'events', 'mutations', 'operations'];
/** Folders of the area `instances`. Its module and the implementation of its port are above all of them. */
const INSTANCES = [
  'workloads',
  'catalog',
  'devices',
  'access',
  'backends',
  'scaling',
  'logs',
  'lifecycle',
  'deployment-instances',
  'targets',
];

const KUBERNETES = ['api', 'manifests', 'config', 'instances', 'logs', 'health', 'revisions', 'driver'];
const PROCESS = ['host', 'instances', 'devices', 'templates', 'logs', 'lifecycle', 'observation'];

const inOrder = (name, folder, parts) =>
  parts
    .slice(0, -1)
    .map((part, index) => ({
      name: `${name}-${part}`,
      comment: `In ${folder}, ${parts.join(' → ')}: each may import those before it.`,
      severity: 'error',
      from: { path: `^${folder}/${part}/` },
      to: { path: `^${folder}/(${parts.slice(index + 1).join('|')})/` },
    }));

/**
 * Forbids import cycles and imports against the order: `npx depcruise libs apps tools`. Lint rules check which library
 * may import which.
 */
export default {
  forbidden: [
    ...inOrder('platform-order', 'libs/platform', PLATFORM),
    ...inOrder('durable-order', 'libs/platform/durable/src', DURABLE),
    ...inOrder('kubernetes-order', 'libs/targets/kubernetes/src', KUBERNETES),
    ...inOrder('process-order', 'libs/targets/process/src', PROCESS),
    ...inOrder('instances-order', 'libs/areas/instances/src', INSTANCES),
    {
      name: 'instances-order-top',
      comment: 'The module and the port of the area instances import its folders, and no folder imports them.',
      severity: 'error',
      from: { path: '^libs/areas/instances/src/[^/]+/' },
      to: { path: '^libs/areas/instances/src/[^/]+\\.ts$' },
    },
    {
      name: 'no-cycles',
      comment:
        'Move what both sides need into a file of its own, or let one side hand it to the other. Types count too.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules|/dist/' },
    exclude: { path: '/dist/|\\.spec\\.tsx?$|/test/|^tools/lint/fixtures/' },
    // Includes imports of types: a cycle of types is as hard to read as any other.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      conditionNames: ['@slipway/source', 'import', 'node', 'default'],
      extensions: ['.ts', '.tsx', '.js', '.mjs'],
      exportsFields: ['exports'],
      mainFields: ['main'],
    },
  },
};

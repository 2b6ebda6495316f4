/**
 * Which project may import which, by the tags in each package.json. Every other import is forbidden. So an area never
 * imports an area: it calls the port of an earlier area (`ports-point-down`), or subscribes to a stored event.
 */
export const boundaries = [
  { sourceTag: 'app:api', onlyDependOnLibsWithTags: ['type:registry', 'type:platform'] },
  { sourceTag: 'app:worker', onlyDependOnLibsWithTags: ['type:registry', 'type:platform'] },
  { sourceTag: 'app:gateway', onlyDependOnLibsWithTags: ['type:gateway', 'type:platform'] },
  { sourceTag: 'app:console', onlyDependOnLibsWithTags: ['type:sdk'] },
  { sourceTag: 'app:cli', onlyDependOnLibsWithTags: ['type:sdk'] },
  {
    sourceTag: 'type:app',
    onlyDependOnLibsWithTags: ['type:registry', 'type:gateway', 'type:platform', 'type:contracts', 'type:sdk'],
  },
  {
    sourceTag: 'type:registry',
    onlyDependOnLibsWithTags: ['type:area', 'type:target', 'type:dataplane', 'type:platform', 'type:contracts'],
  },
  {
    sourceTag: 'type:area',
    onlyDependOnLibsWithTags: [
      'type:port',
      'type:target',
      'type:diagnosis',
      'type:dataplane',
      'type:platform',
      'type:contracts',
    ],
  },
  { sourceTag: 'type:port', onlyDependOnLibsWithTags: ['type:platform', 'type:contracts'] },
  { sourceTag: 'type:target', onlyDependOnLibsWithTags: ['type:target', 'type:platform', 'type:contracts'] },
  { sourceTag: 'type:gateway', onlyDependOnLibsWithTags: ['type:dataplane', 'type:platform', 'type:contracts'] },
  { sourceTag: 'type:diagnosis', onlyDependOnLibsWithTags: ['type:dataplane', 'type:contracts'] },
  { sourceTag: 'type:dataplane', onlyDependOnLibsWithTags: ['type:platform', 'type:contracts'] },
  { sourceTag: 'type:platform', onlyDependOnLibsWithTags: ['type:platform', 'type:contracts'] },
  // The contracts, which all projects share, import nothing.
  { sourceTag: 'type:contracts', onlyDependOnLibsWithTags: [] },
  { sourceTag: 'type:sdk', onlyDependOnLibsWithTags: ['type:sdk', 'type:contracts'] },
  {
    sourceTag: 'type:tool',
    onlyDependOnLibsWithTags: [
      'type:tool',
      'type:registry',
      'type:target',
      'type:platform',
      'type:contracts',
      'type:sdk',
    ],
  },
  // Runs parts of the product with a virtual clock, outside the processes.
  {
    sourceTag: 'type:simulation',
    onlyDependOnLibsWithTags: [
      'type:simulation',
      'type:tool',
      'type:gateway',
      'type:area',
      'type:port',
      'type:diagnosis',
      'type:dataplane',
      'type:contracts',
    ],
  },
];

/**
 * The same for specs and `test` folders. Tests of areas may build earlier areas (`ports-point-down`). Tests of processes may use the client,
 * and reach areas by their ports.
 */
export const testBoundaries = boundaries.map((one) => {
  const isApp = /^(app:|type:app$)/.test(one.sourceTag);
  const more = one.sourceTag === 'type:area' ? ['type:area'] : isApp ? ['type:sdk', 'type:port'] : [];
  return { ...one, onlyDependOnLibsWithTags: [...new Set([...one.onlyDependOnLibsWithTags, ...more])] };
});

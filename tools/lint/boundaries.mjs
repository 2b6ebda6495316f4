/**
 * Who may import whom, by the tags in each package.json. What is not listed is forbidden, so an area never imports an area:
 * ask through a port (libs/ports), or listen to a stored event.
 */
export const boundaries = [
  { sourceTag: 'app:api', onlyDependOnLibsWithTags: ['type:registry', 'type:platform'] },
  { sourceTag: 'app:worker', onlyDependOnLibsWithTags: ['type:registry', 'type:platform'] },
  { sourceTag: 'app:gateway', onlyDependOnLibsWithTags: ['type:dataplane', 'type:platform', 'type:target'] },
  { sourceTag: 'app:console', onlyDependOnLibsWithTags: ['type:sdk'] },
  { sourceTag: 'app:cli', onlyDependOnLibsWithTags: ['type:sdk'] },
  {
    sourceTag: 'type:app',
    onlyDependOnLibsWithTags: ['type:registry', 'type:dataplane', 'type:platform', 'type:target', 'type:sdk'],
  },
  { sourceTag: 'type:registry', onlyDependOnLibsWithTags: ['type:area', 'type:dataplane', 'type:platform'] },
  { sourceTag: 'type:area', onlyDependOnLibsWithTags: ['type:port', 'type:target', 'type:dataplane', 'type:platform'] },
  { sourceTag: 'type:port', onlyDependOnLibsWithTags: ['type:platform'] },
  { sourceTag: 'type:target', onlyDependOnLibsWithTags: ['type:target', 'type:platform'] },
  { sourceTag: 'type:dataplane', onlyDependOnLibsWithTags: ['type:platform'] },
  { sourceTag: 'type:platform', onlyDependOnLibsWithTags: ['type:platform'] },
  { sourceTag: 'type:sdk', onlyDependOnLibsWithTags: ['type:sdk'] },
  { sourceTag: 'type:tool', onlyDependOnLibsWithTags: ['type:tool', 'type:registry', 'type:platform'] },
];

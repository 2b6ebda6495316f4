/// <reference types="node" />
interface NodeModules {
  'node:http': typeof import('node:http');
  'node:https': typeof import('node:https');
  'node:net': typeof import('node:net');
  'node:stream': typeof import('node:stream');
  'node:tls': typeof import('node:tls');
}

/**
 * A module of Node, without an import: browsers need no bundler for this package.
 * @throws TypeError in a Node that is older than 20.16 or 22.3
 */
export function nodeModule<Name extends keyof NodeModules>(name: Name): NodeModules[Name] {
  const { getBuiltinModule } = process as { getBuiltinModule?: (id: string) => unknown };
  if (getBuiltinModule === undefined) throw new TypeError('A proxy needs Node 20.16, 22.3 or newer.');
  return getBuiltinModule(name) as NodeModules[Name];
}

/** Whether this is Node itself: browsers, Bun and Deno follow proxies on their own. */
export function isNode(): boolean {
  const { versions } = (globalThis.process ?? {}) as { versions?: Record<string, string | undefined> };
  return versions?.['node'] !== undefined && versions['bun'] === undefined && versions['deno'] === undefined;
}

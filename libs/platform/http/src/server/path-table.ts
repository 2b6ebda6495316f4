/**
 * Which methods a path supports, so that a wrong method is a 405 with `Allow` instead of a 404. The router itself only
 * knows one tree per method and cannot be asked.
 */
export class PathTable {
  private readonly rows = new Map<string, { pattern: RegExp; methods: Set<string> }>();

  add(method: string | string[], path: string): void {
    const row = this.rows.get(path) ?? { pattern: patternOf(path), methods: new Set<string>() };
    for (const name of [method].flat()) row.methods.add(name);
    this.rows.set(path, row);
  }

  /** @param url as the client sent it; answers an empty list for an unknown path */
  methodsOf(url: string): string[] {
    const path = url.split('?', 1)[0]!;
    const methods = new Set<string>();
    for (const row of this.rows.values()) {
      if (row.pattern.test(path)) for (const method of row.methods) methods.add(method);
    }
    return [...methods].sort();
  }
}

function patternOf(path: string): RegExp {
  const segments = path.split('/').map((segment) => {
    if (segment === '*') return '.*';
    return segment.startsWith(':') ? '[^/]+' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${segments.join('/')}$`);
}

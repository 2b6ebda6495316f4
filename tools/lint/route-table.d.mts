export interface PublishedRoute {
  tag: string;
  method: string;
  path: string;
  folder: string;
  module: string;
}

export function routesIn(root: string): PublishedRoute[];
export function routeTable(root: string): string;
export function withRouteTable(page: string, table: string): string;

import { Routes1700000000300 } from './migrations/1700000000300-routes.js';
import { TrafficOwner1700000000301 } from './migrations/1700000000301-traffic-owner.js';
import { RouteHold1700000000302 } from './migrations/1700000000302-route-hold.js';

export { RoutingModule } from './routing.module.js';

export const migrations = [Routes1700000000300, TrafficOwner1700000000301, RouteHold1700000000302];

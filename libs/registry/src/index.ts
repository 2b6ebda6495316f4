export { AREAS, ENTITIES, MIGRATIONS } from './areas.js';

export { AREAS, ENTITIES, MIGRATIONS } from './product.js';

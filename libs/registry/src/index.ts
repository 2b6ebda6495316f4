export { AREAS, COMMANDS, ENTITIES, MIGRATIONS, type Command } from './product.js';

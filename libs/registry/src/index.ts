export { AREAS, COMMANDS, ENTITIES, MIGRATIONS, TargetKindsModule, type Command } from './product.js';

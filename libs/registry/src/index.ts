export { AREAS, COMMANDS, KEY_USES, MIGRATIONS, SEALED, TargetKindsModule, type Command } from './product.js';

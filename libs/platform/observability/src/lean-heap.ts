import { setFlagsFromString } from 'node:v8';

/*
 * Imported for what it does, and before anything else: while modules load V8 lets the young generation grow to 33 MB and keeps
 * them; later it has no reason to collect what thousands of operations have left in the old one. A process that mostly
 * waits for Postgres has use for neither. It costs a worker an eighth of its rate of operations (decision 0012).
 */
setFlagsFromString('--optimize-for-size');

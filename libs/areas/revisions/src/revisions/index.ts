import { Revisions1700000000200 } from './migrations/1700000000200-revisions.js';
import { RevisionActivations1700000000201 } from './migrations/1700000000201-revision-activations.js';
import { RevisionPins1700000000202 } from './migrations/1700000000202-revision-pins.js';
import { RevisionStatistics1700000000203 } from './migrations/1700000000203-revision-statistics.js';
import { StoredRevisions1700000000204 } from './migrations/1700000000204-stored-revisions.js';

export { RevisionsModule } from './revisions.module.js';

export const migrations = [
  Revisions1700000000200,
  RevisionActivations1700000000201,
  RevisionPins1700000000202,
  RevisionStatistics1700000000203,
  StoredRevisions1700000000204,
];

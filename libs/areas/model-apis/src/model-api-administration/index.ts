import type { SealedColumn } from '@slipway/platform-database';
import { ModelApiProducts1700000001000 } from './migrations/1700000001000-model-api-products.js';
import { ModelApiTargetBindings1700000001001 } from './migrations/1700000001001-model-api-target-bindings.js';
import { ModelApiPublications1700000001002 } from './migrations/1700000001002-model-api-publications.js';
import { BindingPins1700000001003 } from './migrations/1700000001003-binding-pins.js';
import { OwnAudiences1700000001004 } from './migrations/1700000001004-own-audiences.js';
import { PublicationPrefixCaches1700000001005 } from './migrations/1700000001005-publication-prefix-caches.js';
import { BindingFaults1700000001006 } from './migrations/1700000001006-binding-faults.js';
import { PublicationMediaUrls1700000001007 } from './migrations/1700000001007-publication-media-urls.js';
import { StoredModelApis1700000001008 } from './migrations/1700000001008-stored-model-apis.js';

export { ModelApiAdministrationModule } from './model-api-administration.module.js';
export const migrations = [
  ModelApiProducts1700000001000,
  ModelApiTargetBindings1700000001001,
  ModelApiPublications1700000001002,
  BindingPins1700000001003,
  OwnAudiences1700000001004,
  PublicationPrefixCaches1700000001005,
  BindingFaults1700000001006,
  PublicationMediaUrls1700000001007,
  StoredModelApis1700000001008,
];
export const sealed: readonly SealedColumn[] = [
  {
    table: 'model_api_target_bindings',
    id: 'id',
    column: 'credential',
    renewed: ({ id, credential }, reseal) => reseal(credential as string, id as string),
  },
];

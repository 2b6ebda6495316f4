import { Module } from '@nestjs/common';
import { Installation } from './installation.js';
import { TargetCatalog } from './target-catalog.js';

/** The execution targets of the operator's configuration, once for each process. */
@Module({ providers: [Installation, TargetCatalog], exports: [TargetCatalog] })
export class TargetCatalogModule {}

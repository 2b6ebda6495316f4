import { Module } from '@nestjs/common';
import { CatalogController } from './catalog.controller.js';
import { CatalogService } from './catalog.service.js';
import { ProductMeasurements } from './product-measurements.js';

@Module({ controllers: [CatalogController], providers: [CatalogService, ProductMeasurements] })
export class CatalogModule {}

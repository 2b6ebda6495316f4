import { Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { DEPLOYMENTS, REVISIONS, type DeploymentsPort, type RevisionsPort } from '@slipway/ports';

/**
 * The ports of the areas that themselves need this one. They are looked up when they are used: asking for them in a
 * constructor would be a circle. In a process without these areas there is nobody to tell.
 */
@Injectable()
export class Neighbours {
  constructor(private readonly modules: ModuleRef) {}

  get revisions(): RevisionsPort | undefined {
    return this.find<RevisionsPort>(REVISIONS);
  }

  get deployments(): DeploymentsPort | undefined {
    return this.find<DeploymentsPort>(DEPLOYMENTS);
  }

  private find<T>(token: symbol): T | undefined {
    try {
      return this.modules.get<T>(token, { strict: false });
    } catch {
      return undefined;
    }
  }
}

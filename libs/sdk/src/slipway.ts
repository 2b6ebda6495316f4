import { Transport, type SlipwayOptions } from './client/transport.js';
import type { AnswerOf, OptionsOf } from './client/types.js';
import { adminOf, contextPassportsOf, modelApiCatalogOf, targetsOf } from './resources/model-apis.js';
import { auditOf, consoleAccessOf, tenantsOf, tokensOf, webhooksOf } from './resources/access.js';
import { autopilotOf, deploymentsOf } from './resources/deployments.js';
import { operationsOf } from './resources/operations.js';
import { sandboxesOf } from './resources/sandboxes.js';

/** The api of one Slipway, by its nouns: `slipway.deployments.rollouts.create(...)`. */
export class Slipway {
  readonly #api: Transport;
  readonly admin: ReturnType<typeof adminOf>;
  readonly audit: ReturnType<typeof auditOf>;
  readonly autopilot: ReturnType<typeof autopilotOf>;
  readonly consoleAccess: ReturnType<typeof consoleAccessOf>;
  readonly contextPassports: ReturnType<typeof contextPassportsOf>;
  readonly deployments: ReturnType<typeof deploymentsOf>;
  readonly modelApiCatalog: ReturnType<typeof modelApiCatalogOf>;
  readonly operations: ReturnType<typeof operationsOf>;
  readonly sandboxes: ReturnType<typeof sandboxesOf>;
  /** The status of the service itself. */
  readonly system: (options?: OptionsOf<'getSystem'>) => Promise<AnswerOf<'getSystem'>>;
  readonly targets: ReturnType<typeof targetsOf>;
  readonly tenants: ReturnType<typeof tenantsOf>;
  readonly tokens: ReturnType<typeof tokensOf>;
  readonly webhooks: ReturnType<typeof webhooksOf>;
  readonly whoAmI: (options?: OptionsOf<'whoAmI'>) => Promise<AnswerOf<'whoAmI'>>;

  constructor(options: SlipwayOptions) {
    const api = new Transport(options);
    this.#api = api;
    this.admin = adminOf(api);
    this.audit = auditOf(api);
    this.autopilot = autopilotOf(api);
    this.consoleAccess = consoleAccessOf(api);
    this.contextPassports = contextPassportsOf(api);
    this.deployments = deploymentsOf(api);
    this.modelApiCatalog = modelApiCatalogOf(api);
    this.operations = operationsOf(api);
    this.sandboxes = sandboxesOf(api);
    this.system = (given) => api.call('getSystem', { options: given });
    this.targets = targetsOf(api);
    this.tenants = tenantsOf(api);
    this.tokens = tokensOf(api);
    this.webhooks = webhooksOf(api);
    this.whoAmI = (given) => api.call('whoAmI', { options: given });
  }

  /** Calls any operation of the document by its id. */
  get api(): Pick<Transport, 'call' | 'list' | 'rehearse'> {
    return this.#api;
  }
}

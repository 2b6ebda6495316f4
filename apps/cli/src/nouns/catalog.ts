import type { PageOf } from '@slipway/sdk';
import { counted } from '../progress/text.js';
import { productIdOf } from './names.js';
import type { CommandInput, Flag, Noun } from './verb.js';
import { BINDING, CATALOG, DELETED, OPERATION, PASSPORT, PRODUCT, PUBLICATION, TARGET } from './views.js';

const PRODUCT_FLAGS: readonly Flag[] = [
  { flags: '--display-name <text>', summary: 'name that people see', body: 'display_name' },
  { flags: '--description <text>', summary: 'what the product is', body: 'description' },
  { flags: '--context-length <tokens>', summary: 'context length of the model', body: 'context_length', as: 'number' },
  {
    flags: '--max-output-tokens <tokens>',
    summary: 'maximum number of tokens in a response',
    body: 'max_output_tokens',
    as: 'number',
  },
  { flags: '--modalities <list>', summary: 'modalities, such as text,image', body: 'modalities', as: 'list' },
  {
    flags: '--supported-parameters <list>',
    summary: 'parameters, such as temperature,top_p',
    body: 'supported_parameters',
    as: 'list',
  },
  { flags: '--pricing <json>', summary: 'prices of the product', body: 'pricing', as: 'json' },
];

export const products: Noun = {
  noun: 'products',
  aliases: ['product'],
  summary: 'Manage products: model APIs that can be published',
  verbs: [
    {
      verb: 'list',
      operation: 'listModelApiProducts',
      summary: 'List products',
      examples: ['slipway products list'],
      flags: [
        { flags: '--state <state>', summary: 'only products in this state', query: 'state' },
        { flags: '--search <text>', summary: 'only products with this text in their slug or display name', query: 'q' },
      ],
      view: PRODUCT,
    },
    {
      verb: 'create',
      operation: 'createModelApiProduct',
      summary: 'Create a product',
      examples: ['slipway products create acme/chat --display-name "Acme Chat"'],
      flags: PRODUCT_FLAGS,
      view: PRODUCT,
      argFields: ['slug'],
    },
    {
      verb: 'get',
      operation: 'getModelApiProduct',
      summary: 'Show a product, by its id or slug',
      examples: ['slipway products get prd_1'],
      view: PRODUCT,
      idOf: productIdOf,
    },
    {
      verb: 'update',
      operation: 'updateModelApiProduct',
      summary: 'Change a product, by its id or slug; the catalog shows it at once',
      examples: ['slipway products update prd_1 --display-name "Acme Chat 2"'],
      flags: PRODUCT_FLAGS,
      // It cannot change.
      without: ['slug'],
      view: PRODUCT,
      idOf: productIdOf,
    },
    {
      verb: 'delete',
      operation: 'deleteModelApiProduct',
      summary: 'Delete a product that has no bindings and is not published',
      examples: ['slipway products delete prd_1 --yes'],
      confirm: 'name',
      view: DELETED,
      idOf: productIdOf,
    },
  ],
};

export const bindings: Noun = {
  noun: 'bindings',
  aliases: ['binding'],
  summary: 'Manage bindings, which connect products to model servers',
  verbs: [
    {
      verb: 'list',
      operation: 'listTargetBindings',
      summary: 'List bindings',
      examples: ['slipway bindings list'],
      flags: [
        { flags: '--state <state>', summary: 'only bindings in this state', query: 'state' },
        { flags: '--product <id>', summary: 'only bindings of the product with this id', query: 'product_id' },
      ],
      view: BINDING,
    },
    {
      verb: 'get',
      operation: 'getTargetBinding',
      args: '<binding>',
      summary: 'Show a binding and its qualification',
      examples: ['slipway bindings get bnd_0190f5c27bd87cc0a6b7d2f5e1a3c4d5'],
      view: BINDING,
    },
    {
      verb: 'create',
      operation: 'createTargetBinding',
      args: '<product>',
      summary: 'Bind a product to a revision or to a supplier',
      examples: ['slipway bindings create prd_1 --deployment chat --revision chat-00001'],
      flags: [
        {
          flags: '--deployment <deployment>',
          summary: 'deployment that serves the product',
          body: 'target.deployment',
          source: 'deployment',
        },
        {
          flags: '--revision <revision>',
          summary: 'revision of the deployment',
          body: 'target.revision',
          source: 'revision',
        },
        {
          flags: '--supplier <name>',
          summary: 'supplier that serves the product instead',
          body: 'target.supplier',
          source: 'supplier',
        },
        { flags: '--base-url <url>', summary: 'URL of the supplier', body: 'target.base_url' },
        { flags: '--model <model>', summary: 'name of the model at the supplier', body: 'target.model' },
        {
          flags: '--credential-file <file>',
          summary: 'file with the key of the supplier; - reads stdin',
          body: 'target.credential',
          as: 'secret',
        },
        { flags: '--limits <json>', summary: 'request limits of the binding', body: 'limits', as: 'json' },
      ],
      view: BINDING,
      argFields: ['product_id'],
      idOf: productIdOf,
    },
    {
      verb: 'qualify',
      operation: 'qualifyTargetBinding',
      args: '<binding>',
      summary: 'Check that a binding serves what its product promises',
      examples: ['slipway bindings qualify bnd_0190f5c27bd87cc0a6b7d2f5e1a3c4d5 --wait'],
      view: OPERATION,
    },
    {
      verb: 'delete',
      operation: 'deleteTargetBinding',
      args: '<binding>',
      summary: 'Delete a binding that the current publication does not use',
      examples: ['slipway bindings delete bnd_0190f5c27bd87cc0a6b7d2f5e1a3c4d5 --yes'],
      view: DELETED,
    },
  ],
};

export const publications: Noun = {
  noun: 'publications',
  aliases: ['publication'],
  summary: 'Manage publications, which offer products to clients',
  verbs: [
    {
      verb: 'list',
      operation: 'listModelApiPublications',
      summary: 'List publications',
      examples: ['slipway publications list'],
      flags: [
        { flags: '--state <state>', summary: 'only publications in this state', query: 'state' },
        { flags: '--product <id>', summary: 'only publications of the product with this id', query: 'product_id' },
      ],
      view: PUBLICATION,
    },
    {
      verb: 'create',
      operation: 'createModelApiPublication',
      args: '<product>',
      summary: 'Publish a product',
      examples: [
        'slipway publications create prd_1 --binding bnd_1',
        `slipway publications create prd_1 --bindings '[{"binding_id":"bnd_1","weight":100,"priority":1}]' --dry-run`,
      ],
      flags: [
        { flags: '--binding <binding>', summary: 'the only binding, which gets all traffic', source: 'binding' },
        {
          flags: '--bindings <json>',
          summary: 'several bindings with weight and priority, or @file',
          body: 'bindings',
          as: 'json',
        },
        { flags: '--audience <json>', summary: 'who may use the product', body: 'audience', as: 'json' },
        {
          flags: '--media-urls <json>',
          summary: 'URLs of media that requests may name (default: only data: URLs)',
          body: 'media_urls',
          as: 'json',
        },
        { flags: '--notes <text>', summary: 'notes for readers of the list', body: 'notes' },
      ],
      view: PUBLICATION,
      argFields: ['product_id'],
      idOf: productIdOf,
      bodyOf: publicationOf,
    },
    {
      verb: 'withdraw',
      operation: 'withdrawModelApiPublication',
      summary: 'Withdraw a publication',
      examples: ['slipway publications withdraw pub_0190f5c27bd87cc0a6b7d2f5e1a3c4d5 --yes'],
      confirm: 'yes',
      view: PUBLICATION,
    },
  ],
};

function publicationOf({ body, flags }: CommandInput): object {
  const bindings = flags['binding'] ? { bindings: [{ binding_id: flags['binding'], weight: 100, priority: 1 }] } : {};
  return { ...body, ...bindings };
}

export const catalog: Noun = {
  noun: 'catalog',
  summary: 'Browse the published models, as their users see them',
  verbs: [
    {
      verb: 'list',
      operation: 'listModelApiCatalog',
      summary: 'List the models of the catalog',
      examples: ['slipway catalog list'],
      view: CATALOG,
    },
    {
      verb: 'get',
      operation: 'getModelApiCatalogEntry',
      args: '<product>',
      summary: 'Show a model of the catalog',
      examples: ['slipway catalog get prd_0190f5c27bd87cc0a6b7d2f5e1a3c4d5'],
      view: CATALOG,
      idOf: productIdOf,
    },
  ],
};

export const passports: Noun = {
  noun: 'passports',
  aliases: ['passport'],
  summary: 'Manage context passports, which keep the requests of a session at one model server',
  verbs: [
    {
      verb: 'list',
      operation: 'listContextPassports',
      summary: 'List context passports',
      examples: ['slipway passports list --deployment chat --state active'],
      flags: [
        {
          flags: '--deployment <name>',
          summary: 'only sessions of this deployment or slug',
          query: 'deployment',
          source: 'deployment',
        },
        { flags: '--state <state>', summary: 'only passports that are active, expired or revoked', query: 'state' },
      ],
      view: PASSPORT,
    },
    {
      verb: 'get',
      operation: 'getContextPassport',
      args: '<passport>',
      summary: 'Show a context passport',
      examples: ['slipway passports get cp_6f1ed002ab5595859014ebf0951522d9'],
      view: PASSPORT,
    },
    {
      verb: 'create',
      operation: 'createContextPassport',
      args: '<deployment> <session>',
      summary: 'Create a context passport for a session',
      examples: ['slipway passports create chat me'],
      flags: [
        { flags: '--subject <text>', summary: 'whose session it is', body: 'subject' },
        { flags: '--affinity <json>', summary: 'how the session stays at its server', body: 'affinity', as: 'json' },
      ],
      view: PASSPORT,
      argFields: ['deployment', 'session_id'],
    },
    {
      verb: 'revoke',
      operation: 'revokeContextPassport',
      args: '<passport>',
      summary: 'Revoke a context passport',
      examples: ['slipway passports revoke cp_6f1ed002ab5595859014ebf0951522d9 --yes'],
      view: PASSPORT,
    },
    {
      verb: 'delete',
      operation: 'deleteContextPassport',
      args: '<passport>',
      summary: 'Delete the record of a passport that is revoked or expired',
      examples: ['slipway passports delete cp_6f1ed002ab5595859014ebf0951522d9 --yes'],
      view: DELETED,
    },
  ],
};

export const targets: Noun = {
  noun: 'targets',
  aliases: ['target'],
  summary: 'Show execution targets, where model servers run',
  verbs: [
    {
      verb: 'list',
      operation: 'listTargets',
      summary: 'List targets with their engines and devices',
      examples: ['slipway targets list', 'slipway targets list -o yaml'],
      warningOfPage: (page) => refusedFile(page as Partial<PageOf<'listTargets'>>),
      view: TARGET,
    },
  ],
};

/** The operator's file is in effect as a whole or not at all. Only the operator tenant sees what is wrong in it. */
function refusedFile({ configuration }: Partial<PageOf<'listTargets'>>): string | undefined {
  if (configuration === undefined || configuration.current) return undefined;
  const { problems = [] } = configuration;
  const why = problems.length > 0 ? ` ${counted(problems.length, 'problem')}: ${problems.join('; ')}` : '';
  return `The operator's configuration file was refused, so its last valid version applies.${why}`;
}

import { productIdOf } from './names.js';
import type { CommandInput, Noun } from './verb.js';
import { BINDING, CATALOG, OPERATION, PASSPORT, PRODUCT, PUBLICATION, TARGET } from './views.js';

export const products: Noun = {
  noun: 'products',
  aliases: ['product'],
  summary: 'Model APIs that can be published',
  verbs: [
    {
      verb: 'list',
      summary: 'List products',
      examples: ['slipway products list'],
      isList: true,
      view: PRODUCT,
      call: (client, { options }) => client.admin.modelApi.products.list(options),
    },
    {
      verb: 'create',
      args: '<slug>',
      summary: 'Create a product',
      examples: ['slipway products create acme/chat --display-name "Acme Chat"'],
      flags: [
        { flags: '--display-name <text>', summary: 'its name for people', body: 'display_name' },
        { flags: '--description <text>', summary: 'what it is', body: 'description' },
        { flags: '--context-length <tokens>', summary: 'of its model', body: 'context_length', as: 'number' },
        { flags: '--max-output-tokens <tokens>', summary: 'of an answer', body: 'max_output_tokens', as: 'number' },
        { flags: '--modalities <list>', summary: 'text,image', body: 'modalities', as: 'list' },
        {
          flags: '--supported-parameters <list>',
          summary: 'temperature,top_p',
          body: 'supported_parameters',
          as: 'list',
        },
        { flags: '--pricing <json>', summary: 'what it costs', body: 'pricing', as: 'json' },
      ],
      takesBody: true,
      view: PRODUCT,
      call: (client, { args: [slug], body, options }) =>
        client.admin.modelApi.products.create({ ...body, slug }, options),
    },
  ],
};

export const bindings: Noun = {
  noun: 'bindings',
  aliases: ['binding'],
  summary: 'What serves a product',
  verbs: [
    {
      verb: 'list',
      summary: 'List bindings',
      examples: ['slipway bindings list'],
      isList: true,
      view: BINDING,
      call: (client, { options }) => client.admin.modelApi.targetBindings.list(options),
    },
    {
      verb: 'get',
      args: '<binding>',
      summary: 'Show a binding and its qualification',
      examples: ['slipway bindings get bnd_0190f5c27bd87cc0a6b7d2f5e1a3c4d5'],
      view: BINDING,
      call: (client, { args: [id], options }) => client.admin.modelApi.targetBindings.get(id!, options),
    },
    {
      verb: 'create',
      args: '<product>',
      summary: 'Bind a product to a revision, or to a server elsewhere',
      examples: ['slipway bindings create prd_1 --deployment chat --revision chat-00001'],
      flags: [
        { flags: '--deployment <deployment>', summary: 'what serves it', body: 'target.deployment' },
        { flags: '--revision <revision>', summary: 'which revision of it', body: 'target.revision' },
        { flags: '--supplier <name>', summary: 'a supplier instead', body: 'target.supplier' },
        { flags: '--base-url <url>', summary: 'where the supplier is', body: 'target.base_url' },
        { flags: '--model <model>', summary: "the supplier's name of the model", body: 'target.model' },
        { flags: '--credential-file <file>', summary: 'its key; - is stdin', body: 'target.credential', as: 'secret' },
        { flags: '--limits <json>', summary: 'how much it may be asked', body: 'limits', as: 'json' },
      ],
      takesBody: true,
      view: BINDING,
      call: async (client, { args: [product], body, options }) =>
        client.admin.modelApi.targetBindings.create(
          { ...body, product_id: await productIdOf(client, product!) },
          options,
        ),
    },
    {
      verb: 'qualify',
      args: '<binding>',
      summary: 'Prove that a binding serves what its product promises',
      examples: ['slipway bindings qualify bnd_0190f5c27bd87cc0a6b7d2f5e1a3c4d5 --wait'],
      answersOperation: true,
      view: OPERATION,
      call: (client, { args: [id], options }) => client.admin.modelApi.targetBindings.qualify(id!, options),
    },
  ],
};

export const publications: Noun = {
  noun: 'publications',
  aliases: ['publication'],
  summary: 'Products that clients can name',
  verbs: [
    {
      verb: 'list',
      summary: 'List publications',
      examples: ['slipway publications list'],
      isList: true,
      view: PUBLICATION,
      call: (client, { options }) => client.admin.modelApi.publications.list(options),
    },
    {
      verb: 'create',
      args: '<product>',
      summary: 'Publish a product',
      examples: [
        'slipway publications create prd_1 --binding bnd_1',
        `slipway publications create prd_1 --bindings '[{"binding_id":"bnd_1","weight":100,"priority":1}]' --dry-run`,
      ],
      flags: [
        { flags: '--binding <binding>', summary: 'the only one, with all of the traffic' },
        {
          flags: '--bindings <json>',
          summary: 'several, with weight and priority, or @file',
          body: 'bindings',
          as: 'json',
        },
        { flags: '--audience <json>', summary: 'who may name it', body: 'audience', as: 'json' },
        { flags: '--notes <text>', summary: 'for who reads the list', body: 'notes' },
      ],
      takesBody: true,
      view: PUBLICATION,
      call: async (client, given) =>
        client.admin.modelApi.publications.create(await publicationOf(client, given), given.options),
      rehearse: async (client, given) =>
        client.admin.modelApi.publications.rehearse(await publicationOf(client, given), given.options),
    },
    {
      verb: 'withdraw',
      args: '<publication>',
      summary: 'Withdraw a publication',
      examples: ['slipway publications withdraw pub_0190f5c27bd87cc0a6b7d2f5e1a3c4d5 --yes'],
      confirm: 'yes',
      view: PUBLICATION,
      call: (client, { args: [id], options }) => client.admin.modelApi.publications.withdraw(id!, options),
    },
  ],
};

async function publicationOf(
  client: Parameters<typeof productIdOf>[0],
  { args: [product], body, flags }: CommandInput,
) {
  const bindings = flags['binding'] ? { bindings: [{ binding_id: flags['binding'], weight: 100, priority: 1 }] } : {};
  return { ...body, ...bindings, product_id: await productIdOf(client, product!) };
}

export const catalog: Noun = {
  noun: 'catalog',
  summary: 'What is published, as its users see it',
  verbs: [
    {
      verb: 'list',
      summary: 'List the models of the catalog',
      examples: ['slipway catalog list'],
      isList: true,
      view: CATALOG,
      call: (client, { options }) => client.modelApiCatalog.list(options),
    },
    {
      verb: 'get',
      args: '<product>',
      summary: 'Show a model of the catalog',
      examples: ['slipway catalog get prd_0190f5c27bd87cc0a6b7d2f5e1a3c4d5'],
      view: CATALOG,
      call: async (client, { args: [id], options }) =>
        client.modelApiCatalog.get(await productIdOf(client, id!), options),
    },
  ],
};

export const passports: Noun = {
  noun: 'passports',
  aliases: ['passport'],
  summary: 'Sessions that stay with a model server',
  verbs: [
    {
      verb: 'get',
      args: '<passport>',
      summary: 'Show a context passport',
      examples: ['slipway passports get cp_6f1ed002ab5595859014ebf0951522d9'],
      view: PASSPORT,
      call: (client, { args: [id], options }) => client.contextPassports.get(id!, options),
    },
    {
      verb: 'create',
      args: '<deployment> <session>',
      summary: 'Declare a session',
      examples: ['slipway passports create chat me'],
      flags: [
        { flags: '--subject <text>', summary: 'whose it is', body: 'subject' },
        { flags: '--affinity <json>', summary: 'how it stays', body: 'affinity', as: 'json' },
      ],
      takesBody: true,
      view: PASSPORT,
      call: (client, { args: [deployment, session_id], body, options }) =>
        client.contextPassports.create({ ...body, deployment, session_id }, options),
    },
    {
      verb: 'revoke',
      args: '<passport>',
      summary: 'Revoke a context passport',
      examples: ['slipway passports revoke cp_6f1ed002ab5595859014ebf0951522d9 --yes'],
      confirm: 'yes',
      view: PASSPORT,
      call: (client, { args: [id], options }) => client.contextPassports.revoke(id!, options),
    },
  ],
};

export const targets: Noun = {
  noun: 'targets',
  aliases: ['target'],
  summary: 'Where model servers run',
  verbs: [
    {
      verb: 'list',
      summary: 'List targets, their engines and devices',
      examples: ['slipway targets list', 'slipway targets list -o yaml'],
      isList: true,
      view: TARGET,
      call: (client, { options }) => client.targets.list(options),
    },
  ],
};

import { putFile, saveFile } from '../sandbox-files.js';
import type { Flag, Noun } from './verb.js';
import { DELETED, DELETED_FILE, FILE, REFERENCE, SANDBOX } from './views.js';

const SETTINGS: readonly Flag[] = [
  { flags: '-l, --labels <pairs>', summary: 'labels, such as team=search,tier=1', body: 'labels', as: 'pairs' },
  {
    flags: '--expires-at <time>',
    summary: 'when the sandbox and its files expire: a time, or how long from now, such as 2d (default: never)',
    body: 'expires_at',
    as: 'until',
  },
  { flags: '--workspace <json>', summary: 'limits for the files of the sandbox', body: 'workspace', as: 'json' },
];

export const sandboxes: Noun = {
  noun: 'sandboxes',
  aliases: ['sandbox'],
  summary: 'Manage sandboxes: workspaces with files',
  verbs: [
    {
      verb: 'list',
      summary: 'List sandboxes',
      examples: ['slipway sandboxes list'],
      flags: [
        {
          flags: '--state <state>',
          summary: 'only sandboxes in this state',
          query: 'state',
          values: ['running', 'paused', 'stopped', 'archived', 'error', 'unknown'],
        },
        { flags: '--provider <name>', summary: 'only sandboxes of this provider', query: 'provider' },
      ],
      isList: true,
      isByTime: true,
      view: SANDBOX,
      call: (client, { options }) => client.sandboxes.list(options),
    },
    {
      verb: 'get',
      args: '<sandbox>',
      summary: 'Show a sandbox',
      examples: ['slipway sandboxes get sbx_1'],
      view: SANDBOX,
      call: (client, { args: [id], options }) => client.sandboxes.get(id!, options),
    },
    {
      verb: 'create',
      summary: 'Create a sandbox',
      examples: ['slipway sandboxes create -o name', 'slipway sandboxes create --labels team=search'],
      flags: [
        {
          flags: '--provider <provider>',
          summary: 'provider: local, e2b, daytona or custom',
          body: 'provider',
          values: ['local', 'e2b', 'daytona', 'custom'],
        },
        {
          flags: '--reference <reference>',
          summary: 'reference, for a provider other than local',
          body: 'reference_id',
          source: 'reference',
        },
        ...SETTINGS,
      ],
      takesBody: true,
      view: SANDBOX,
      call: (client, { body = {}, options }) => client.sandboxes.create(body, options),
    },
    {
      verb: 'update',
      args: '<sandbox>',
      summary: 'Change labels, expiry or limits of a sandbox',
      examples: ['slipway sandboxes update sbx_1 --labels team=search'],
      flags: SETTINGS,
      takesBody: true,
      takesIfMatch: true,
      view: SANDBOX,
      call: (client, { args: [id], body = {}, options }) => client.sandboxes.update(id!, body, options),
    },
    {
      verb: 'delete',
      args: '<sandbox>',
      summary: 'Delete a sandbox and its files; an external sandbox does not change',
      examples: ['slipway sandboxes delete sbx_1 --yes'],
      confirm: 'name',
      takesIfMatch: true,
      view: DELETED,
      call: (client, { args: [id], options }) => client.sandboxes.delete(id!, options),
    },
  ],
};

export const files: Noun = {
  noun: 'files',
  aliases: ['file'],
  summary: 'Manage the files of a sandbox',
  verbs: [
    {
      verb: 'list',
      args: '<sandbox>',
      summary: 'List the files of a sandbox',
      examples: ['slipway files list sbx_1'],
      isList: true,
      view: FILE,
      call: (client, { args: [id], options }) => client.sandboxes.files.list(id!, options),
    },
    {
      verb: 'put',
      args: '<sandbox> <path>',
      summary: 'Upload a file from --content, --from or stdin',
      examples: [
        'slipway files put sbx_1 hello.txt --content hello',
        'slipway files put sbx_1 data.bin --from package.json',
      ],
      flags: [
        { flags: '--content <text>', summary: 'content of a small text file' },
        { flags: '--from <file>', summary: 'local file of any size' },
        { flags: '--mode <mode>', summary: 'file mode, such as 0644', query: 'mode' },
        { flags: '--sha256 <hash>', summary: 'fail if the content has another hash', query: 'sha256' },
        { flags: '--no-overwrite', summary: 'fail if the file exists', query: 'overwrite', as: 'flag' },
      ],
      takesKey: true,
      run: putFile,
    },
    {
      verb: 'get',
      args: '<sandbox> <path>',
      summary: 'Download a file to stdout or to the file in --to',
      examples: ['slipway files get sbx_1 hello.txt'],
      flags: [{ flags: '--to <file>', summary: 'local file to write to' }],
      run: saveFile,
    },
    {
      verb: 'delete',
      args: '<sandbox> <path>',
      summary: 'Delete a file; an external sandbox keeps it',
      examples: ['slipway files delete sbx_1 hello.txt --yes'],
      confirm: 'yes',
      takesIfMatch: true,
      view: DELETED_FILE,
      call: (client, { args: [id, path], options }) => client.sandboxes.files.delete(id!, path!, options),
    },
  ],
};

export const references: Noun = {
  noun: 'references',
  aliases: ['reference'],
  summary: 'Manage references to sandboxes of other providers',
  verbs: [
    {
      verb: 'list',
      summary: 'List references',
      examples: ['slipway references list'],
      flags: [
        {
          flags: '--state <state>',
          summary: 'only references in this state',
          query: 'state',
          values: ['active', 'revoked'],
        },
      ],
      isList: true,
      isByTime: true,
      view: REFERENCE,
      call: (client, { options }) => client.sandboxes.references.list(options),
    },
    {
      verb: 'create',
      args: '<external-id>',
      summary: 'Create a reference to a sandbox of another provider',
      examples: [
        'slipway references create box-1 --provider custom --base-url http://127.0.0.1:9000 --credential-file -',
      ],
      flags: [
        {
          flags: '--provider <provider>',
          summary: 'provider: e2b, daytona or custom',
          body: 'provider',
          values: ['e2b', 'daytona', 'custom'],
        },
        { flags: '--base-url <url>', summary: 'URL of the sandbox', body: 'base_url' },
        {
          flags: '--credential-file <file>',
          summary: 'file with its access token; - reads stdin',
          body: 'credential',
          as: 'secret',
        },
        { flags: '-l, --labels <pairs>', summary: 'labels, such as team=search,tier=1', body: 'labels', as: 'pairs' },
      ],
      takesBody: true,
      view: REFERENCE,
      call: (client, { args: [external_id], body, options }) =>
        client.sandboxes.references.create({ ...body, external_id }, options),
    },
    {
      verb: 'revoke',
      args: '<reference>',
      summary: 'Revoke a reference: deletes its credential, but does not change the sandbox',
      examples: ['slipway references revoke ref_1 --yes'],
      confirm: 'yes',
      view: REFERENCE,
      call: (client, { args: [id], options }) => client.sandboxes.references.revoke(id!, options),
    },
    {
      verb: 'delete',
      args: '<reference>',
      summary: 'Delete a revoked reference that no sandbox has',
      examples: ['slipway references delete ref_1 --yes'],
      confirm: 'yes',
      view: DELETED,
      call: (client, { args: [id], options }) => client.sandboxes.references.delete(id!, options),
    },
  ],
};

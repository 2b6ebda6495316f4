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
      operation: 'listSandboxes',
      summary: 'List sandboxes',
      examples: ['slipway sandboxes list'],
      flags: [
        { flags: '--state <state>', summary: 'only sandboxes in this state', query: 'state' },
        { flags: '--provider <name>', summary: 'only sandboxes of this provider', query: 'provider' },
      ],
      view: SANDBOX,
    },
    {
      verb: 'get',
      operation: 'getSandbox',
      summary: 'Show a sandbox',
      examples: ['slipway sandboxes get sbx_1'],
      view: SANDBOX,
    },
    {
      verb: 'create',
      operation: 'createSandbox',
      summary: 'Create a sandbox',
      examples: ['slipway sandboxes create -o name', 'slipway sandboxes create --labels team=search'],
      flags: [
        { flags: '--provider <provider>', summary: 'provider: local, e2b, daytona or custom', body: 'provider' },
        {
          flags: '--reference <reference>',
          summary: 'reference, for a provider other than local',
          body: 'reference_id',
          source: 'reference',
        },
        ...SETTINGS,
      ],
      view: SANDBOX,
    },
    {
      verb: 'update',
      operation: 'updateSandbox',
      summary: 'Change labels, expiry or limits of a sandbox',
      examples: ['slipway sandboxes update sbx_1 --labels team=search'],
      flags: SETTINGS,
      view: SANDBOX,
    },
    {
      verb: 'delete',
      operation: 'deleteSandbox',
      summary: 'Delete a sandbox and its files; an external sandbox does not change',
      examples: ['slipway sandboxes delete sbx_1 --yes'],
      confirm: 'name',
      view: DELETED,
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
      operation: 'listSandboxFiles',
      summary: 'List the files of a sandbox',
      examples: ['slipway files list sbx_1'],
      // With a path, the api sends the file itself: files get.
      without: ['path'],
      view: FILE,
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
      operations: ['putSandboxFile'],
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
      operation: 'deleteSandboxFile',
      summary: 'Delete a file; an external sandbox keeps it',
      examples: ['slipway files delete sbx_1 hello.txt --yes'],
      view: DELETED_FILE,
      argFields: ['path'],
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
      operation: 'listSandboxReferences',
      summary: 'List references',
      examples: ['slipway references list'],
      flags: [{ flags: '--state <state>', summary: 'only references in this state', query: 'state' }],
      view: REFERENCE,
    },
    {
      verb: 'create',
      operation: 'createSandboxReference',
      summary: 'Create a reference to a sandbox of another provider',
      examples: [
        'slipway references create box-1 --provider custom --base-url http://127.0.0.1:9000 --credential-file -',
      ],
      flags: [
        { flags: '--provider <provider>', summary: 'provider: e2b, daytona or custom', body: 'provider' },
        { flags: '--base-url <url>', summary: 'URL of the sandbox', body: 'base_url' },
        {
          flags: '--credential-file <file>',
          summary: 'file with its access token; - reads stdin',
          body: 'credential',
          as: 'secret',
        },
        { flags: '-l, --labels <pairs>', summary: 'labels, such as team=search,tier=1', body: 'labels', as: 'pairs' },
      ],
      view: REFERENCE,
      argFields: ['external_id'],
    },
    {
      verb: 'revoke',
      operation: 'revokeSandboxReference',
      summary: 'Revoke a reference: deletes its credential, but does not change the sandbox',
      examples: ['slipway references revoke ref_1 --yes'],
      view: REFERENCE,
    },
    {
      verb: 'delete',
      operation: 'deleteSandboxReference',
      summary: 'Delete a revoked reference that no sandbox has',
      examples: ['slipway references delete ref_1 --yes'],
      view: DELETED,
    },
  ],
};

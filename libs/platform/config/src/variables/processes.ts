/**
 * The processes that get variables. `tools`: the commands of apps/api that an operator runs (backup, restore,
 * rotate-secret-key, audit-verify). `npm start` reads every variable, and gives each process its own.
 */
export const PROCESSES = ['api', 'worker', 'gateway', 'migrate', 'tools'] as const;
export type ProcessName = (typeof PROCESSES)[number];

/** For a variable that every process reads. */
export const ALL = PROCESSES;
/** For a variable of a process that serves, or works, until it is stopped. */
export const SERVERS = ['api', 'worker', 'gateway'] as const;

/** A variable that Slipway does not parse itself: a library reads it from the environment. */
export interface LibraryVariable {
  name: string;
  description: string;
  processes: readonly ProcessName[];
  secret: true;
}

const STORES = ['api', 'worker'] as const;

/** Variables of the AWS client, which api and worker use for s3:// stores and anchors. */
export const LIBRARY_VARIABLES: readonly LibraryVariable[] = [
  { name: 'AWS_ACCESS_KEY_ID', description: 'access key for an s3:// store', processes: STORES, secret: true },
  { name: 'AWS_SECRET_ACCESS_KEY', description: 'its secret key', processes: STORES, secret: true },
  { name: 'AWS_SESSION_TOKEN', description: 'its session token, if it has one', processes: STORES, secret: true },
];

/** Also other variables of the AWS client, such as AWS_PROFILE or AWS_WEB_IDENTITY_TOKEN_FILE, lead to credentials. */
export const OF_AWS = { names: /^AWS_/, processes: STORES };

/** Variables of people and their programs. No process of Slipway reads them. */
export const OF_NO_PROCESS = new Set(['SLIPWAY_TOKEN', 'SLIPWAY_URL']);

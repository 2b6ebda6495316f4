export interface Finding {
  file: string;
  line: number;
  text: string;
}

export interface Workspace {
  files: string[];
  products: string[];
}

export interface Check {
  name: string;
  says: string;
  find(workspace: Workspace, reasons?: Record<string, string>): Finding[];
}

export const checks: Check[];
export function findingsIn(workspace: Workspace): Record<string, Finding[]>;
export function readWorkspace(root: string): Workspace;
export function workspaceOf(files: Record<string, string>): Workspace;
export function counts(workspace: Workspace): [what: string, count: number][];

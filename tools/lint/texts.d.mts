import type { Workspace } from './structure.mjs';

export interface Text {
  file: string;
  line: number;
  kind: 'comment' | 'text' | 'title';
  text: string;
}

export interface Message {
  file: string;
  line: number;
  kind: Text['kind'] | 'page';
  isError: boolean;
  message: string;
}

export { readWorkspace, workspaceOf } from './structure.mjs';
export function textsOf(workspace: Workspace, only?: (file: string) => boolean): Text[];
export function messagesOf(workspace: Workspace, only?: (file: string) => boolean): Promise<Message[]>;

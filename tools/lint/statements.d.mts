export interface Statement {
  file: string;
  line: number;
  name: string;
}

export function statementsUnder(root: string, folder: string): Statement[];
export function statementsIn(file: string, text: string): Statement[];

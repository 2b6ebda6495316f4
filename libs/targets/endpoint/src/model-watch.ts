import { serverUrls, type IdentityProof } from '@slipway/contracts';
import { fieldOf, checkModelList, describeModels, isNamed, type ModelsAnswer } from '@slipway/target-driver';
import { askServer, listModels, type ServerQuestion } from './model-list.js';

/** Observations of a server that starts or is unhealthy are more frequent than probes. */
const PAUSE_MS = 500;
/** The longest pause of a server that reports nothing. Its pause doubles each time. */
const MAX_PAUSE_MS = 30_000;
/** The longest lists are those of brokers. To read one each second would be most of the work. */
const BYTES_A_SECOND = 64 * 1024;

/** Whether a server has its model, as far as known. `unknown`: it does not report it. */
type ModelFinding = { is: 'has' | 'unknown'; bytes: number } | { is: 'has_not'; message: string; bytes: number };

/**
 * Checks whether one adopted server still has its model, in addition to its probes. It uses the server's list, or the
 * info routes that the target's profile names. The last clear answer remains valid until the next; an answer that shows
 * nothing changes nothing.
 */
export class ModelWatch {
  private finding: ModelFinding = { is: 'unknown', bytes: 0 };
  private dueAt = -Infinity;
  private pauseMs = PAUSE_MS;

  get hasModel(): boolean {
    return this.finding.is === 'has';
  }

  /** Describes how the server has changed. Undefined if it has not, as far as it reports. */
  get change(): string | undefined {
    return this.finding.is === 'has_not' ? this.finding.message : undefined;
  }

  /**
   * Checks the server if a check is due.
   * @param proofs the proofs of the profile; if none of them is one cheap request, the list is the proof
   * @param list the server's answer to `GET /v1/models`, if it was just requested
   */
  async look(
    question: ServerQuestion,
    model: string,
    proofs: readonly IdentityProof[],
    list?: ModelsAnswer & { bytes: number },
  ): Promise<void> {
    if (!list && performance.now() < this.dueAt) return;
    const cheap = cheapProofs(proofs);
    const told: ModelFinding[] = [];
    for (const proof of cheap.length > 0 ? cheap : (['models_list'] as const)) {
      if (proof === 'models_list') told.push(ofList(model, list ?? (await listModels(question))));
      else told.push(await ofInfo(question, proof));
    }
    const found = told.find(({ is }) => is === 'has_not') ?? told.find(({ is }) => is === 'unknown') ?? told[0]!;
    if (found.is !== 'unknown') this.finding = found;
    const bytes = told.reduce((sum, one) => sum + one.bytes, 0);
    this.pauseMs = found.is === 'unknown' ? Math.min(MAX_PAUSE_MS, 2 * this.pauseMs) : PAUSE_MS;
    this.dueAt = performance.now() + Math.max(this.pauseMs, (bytes / BYTES_A_SECOND) * 1_000);
  }
}

/** The proofs that cost a server no work of its model. */
export function cheapProofs(proofs: readonly IdentityProof[]): Exclude<IdentityProof, 'response_model'>[] {
  return proofs.filter((proof) => proof !== 'response_model');
}

function ofList(model: string, answer: ModelsAnswer & { bytes: number }): ModelFinding {
  const { bytes } = answer;
  if ('unknown' in answer) return { is: 'unknown', bytes };
  const tells = checkModelList(model, answer.names);
  if ('unknown' in tells) return { is: 'unknown', bytes };
  // The name of a file proves less than a name of the model, so a later change of the list would prove nothing either.
  if (tells.has) return { is: isNamed(model, answer.names) ? 'has' : 'unknown', bytes };
  return { is: 'has_not', message: `the server has another model now: it has ${describeModels(answer.names)}`, bytes };
}

async function ofInfo(
  question: ServerQuestion,
  { path, field, equals }: Exclude<IdentityProof, string>,
): Promise<ModelFinding> {
  const told = await askServer(question, `${serverUrls(question.baseUrl, question.apiPath).root}${path}`);
  const { bytes } = told;
  const value = 'json' in told ? fieldOf(told.json, field) : undefined;
  if (value === undefined) return { is: 'unknown', bytes };
  if (String(value) === equals) return { is: 'has', bytes };
  return { is: 'has_not', message: `the server has another model now: ${field} of GET ${path} has changed`, bytes };
}

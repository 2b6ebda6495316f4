import type { IdentityProof } from '@slipway/contracts';
import { fieldOf, checkModelList, describeModels, type ModelsAnswer } from '@slipway/target-driver';
import { askServer, listModels, type ServerQuestion } from './model-list.js';

/** Looks at a server that starts, or is ill, follow one another faster than probes do. */
const PAUSE_MS = 500;
/** Of a server that tells nothing, twice as long each time. */
const MAX_PAUSE_MS = 30_000;
/** The longest lists are those of brokers; reading one each second would be most of the work. */
const BYTES_A_SECOND = 64 * 1024;

/** What is known of whether a server has its model. `unknown`: it does not say. */
type ModelFinding = { is: 'has' | 'unknown'; bytes: number } | { is: 'has_not'; message: string; bytes: number };

/**
 * Whether one adopted server still has the model it was adopted for, asked beside its probes: by its list, or by the info routes that the
 * target's profile names. What it said last holds until it says something else; what tells nothing changes nothing.
 */
export class ModelWatch {
  private finding: ModelFinding = { is: 'unknown', bytes: 0 };
  private dueAt = -Infinity;
  private pauseMs = PAUSE_MS;

  get hasModel(): boolean {
    return this.finding.is === 'has';
  }

  /** Why it is another server than it was, in words; undefined where it is not, as far as it says. */
  get change(): string | undefined {
    return this.finding.is === 'has_not' ? this.finding.message : undefined;
  }

  /**
   * Asks if it is time to.
   * @param proofs those of the profile; without one that is a matter of one cheap request, the list is asked
   * @param list what the server has just answered to `GET /v1/models`, if it has been asked already
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

/** Those that cost a server no work of its model. */
export function cheapProofs(proofs: readonly IdentityProof[]): Exclude<IdentityProof, 'response_model'>[] {
  return proofs.filter((proof) => proof !== 'response_model');
}

function ofList(model: string, answer: ModelsAnswer & { bytes: number }): ModelFinding {
  const { bytes } = answer;
  if ('unknown' in answer) return { is: 'unknown', bytes };
  const tells = checkModelList(model, answer.names);
  if ('unknown' in tells) return { is: 'unknown', bytes };
  if (tells.has) return { is: 'has', bytes };
  return { is: 'has_not', message: `the server has another model now: it has ${describeModels(answer.names)}`, bytes };
}

async function ofInfo(
  question: ServerQuestion,
  { path, field, equals }: Exclude<IdentityProof, string>,
): Promise<ModelFinding> {
  const told = await askServer(question, path);
  const { bytes } = told;
  const value = 'json' in told ? fieldOf(told.json, field) : undefined;
  if (value === undefined) return { is: 'unknown', bytes };
  if (String(value) === equals) return { is: 'has', bytes };
  return { is: 'has_not', message: `the server has another model now: ${field} of GET ${path} has changed`, bytes };
}

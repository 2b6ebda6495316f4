import { setTimeout as sleep } from 'node:timers/promises';
import type { TargetHealth } from '@slipway/target-driver';
import { ApiError } from '../api/errors.js';
import { apiVersionOf, type KubeKind } from '../api/kinds.js';
import type { KubeApi } from '../api/requests.js';
import { withoutAnyRight } from '../config/namespace-problems.js';
import { ruleText, type Rule } from './target-health-rules.js';

export interface TargetHealthOptions {
  /** The address of the API server, for people. */
  server: string;
  namespaces(): readonly string[];
  rules(): readonly Rule[];
  /** Types that not every server has. */
  kinds(): readonly KubeKind[];
  /** Each rule is checked once within this time, unless there are very many. */
  roundMs?: number;
  /** How long an API server may take for an answer before it counts as away. */
  limitMs?: number;
  /** An API server gets at most one request in this time, for any number of namespaces. */
  shortestPauseMs?: number;
  /** The pause between two requests while the API server is away. */
  awayPauseMs?: number;
}

const ROUND_MS = 8_000;
const LIMIT_MS = 8_000;
const SHORTEST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 4_000;
const AWAY_PAUSE_MS = 1_000;
const NAMED_RIGHTS = 8;

/** Whether we have a right in a namespace, or whether the server has a type. */
type Question = { namespace: string; rule: Rule } | { kind: KubeKind };

/**
 * Checks whether a target can be used. It continuously requests from the API server, one small request after the other,
 * whether the necessary types exist and the rights are granted. So it names a missing right before a call needs it, and
 * notices that a server is away although every watch is silent.
 */
export class TargetHealthWatch {
  private readonly missing = new Set<string>();
  private trouble?: { since: string; message: string };
  private loop?: Promise<void>;
  private isClosed = false;
  /** Ends a wait: for the next request, or for an answer. */
  private wake = new AbortController();
  private asking = new AbortController();
  private asked = 0;
  /** The number of requests that follow without a pause, because nothing is known yet or something has just failed. */
  private urgent = 0;

  constructor(
    private readonly api: Pick<KubeApi, 'review' | 'knows'>,
    private readonly options: TargetHealthOptions,
  ) {}

  start(): void {
    if (this.loop || this.isClosed) return;
    this.urgent = this.questions().length;
    this.loop = this.run();
  }

  /** Another call has failed, or works again (`null`). In both cases the next request need not wait. */
  note(error: unknown): void {
    const isForbidden = error instanceof ApiError && error.status === 403;
    this.urgent = Math.max(this.urgent, isForbidden ? this.questions().length : 1);
    this.wake.abort();
  }

  get state(): TargetHealth {
    const { trouble } = this;
    if (trouble) return { state: 'degraded', message: `${trouble.message}, since ${trouble.since}` };
    const missing = this.questions().filter((question) => this.missing.has(keyOf(question)));
    if (missing.length === 0) return { state: 'ok' };
    const { server, rules } = this.options;
    const types = missing.filter(isOfType).map(keyOf);
    const { namespaces, others } = withoutAnyRight(
      missing.flatMap((one) => (isOfType(one) ? [] : [one])),
      rules().length,
    );
    const rights = others.map(keyOf);
    const more = rights.length > NAMED_RIGHTS ? ` and ${rights.length - NAMED_RIGHTS} more` : '';
    const sentences = [
      ...types.map((type) => `${server} does not have the type ${type}. Install its CustomResourceDefinition.`),
      ...namespaces
        .slice(0, NAMED_RIGHTS)
        .map(
          (namespace) =>
            `Slipway's account on ${server} has no right in namespace ${namespace}. Create the namespace if it does not exist, and bind the Role of the target in it.`,
        ),
      ...(rights.length > 0
        ? [
            `Slipway's account on ${server} is not allowed to: ${rights.slice(0, NAMED_RIGHTS).join(', ')}${more}. Allow this in a Role.`,
          ]
        : []),
    ];
    return { state: 'degraded', message: sentences.join(' ') };
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.wake.abort();
    this.asking.abort();
    await this.loop;
  }

  private questions(): Question[] {
    const { rules, kinds, namespaces } = this.options;
    const all = rules();
    return [
      ...kinds().map((kind) => ({ kind })),
      ...namespaces().flatMap((namespace) => all.map((rule) => ({ namespace, rule }))),
    ];
  }

  private async run(): Promise<void> {
    while (!this.isClosed) {
      const questions = this.questions();
      const question = questions[this.asked % Math.max(1, questions.length)];
      this.asked += 1;
      if (question) await this.ask(question);
      await this.pause(questions.length);
    }
  }

  private async ask(question: Question): Promise<void> {
    const { limitMs = LIMIT_MS, server } = this.options;
    this.asking = new AbortController();
    const late = sleep(limitMs, undefined, { signal: this.asking.signal }).catch(() => undefined);
    try {
      const answer = isOfType(question)
        ? this.api.knows(question.kind)
        : this.api.review(question.namespace, question.rule);
      const isThere = await Promise.race([answer, late]);
      if (this.isClosed) return;
      if (isThere === undefined) return this.fail(`${server} has not responded within ${limitMs / 1_000} s`);
      this.trouble = undefined;
      if (isThere) this.missing.delete(keyOf(question));
      else this.missing.add(keyOf(question));
    } catch (error) {
      this.fail(error instanceof Error ? error.message : String(error));
    } finally {
      this.asking.abort();
    }
  }

  private fail(message: string): void {
    if (this.isClosed) return;
    this.trouble = { since: this.trouble?.since ?? new Date().toISOString(), message };
    this.urgent = 0;
  }

  private async pause(questions: number): Promise<void> {
    if (this.urgent > 0) {
      this.urgent -= 1;
      return;
    }
    const { roundMs = ROUND_MS, shortestPauseMs = SHORTEST_PAUSE_MS, awayPauseMs = AWAY_PAUSE_MS } = this.options;
    const steadyMs = Math.min(LONGEST_PAUSE_MS, Math.max(shortestPauseMs, roundMs / Math.max(1, questions)));
    if (this.isClosed) return;
    this.wake = new AbortController();
    const { signal } = this.wake;
    await sleep(this.trouble ? awayPauseMs : steadyMs, undefined, { signal }).catch(() => undefined);
  }
}

function isOfType(question: Question): question is { kind: KubeKind } {
  return 'kind' in question;
}

function keyOf(question: Question): string {
  if (isOfType(question)) return `${question.kind.plural}.${apiVersionOf(question.kind)}`;
  return `${ruleText(question.rule)} in namespace ${question.namespace}`;
}

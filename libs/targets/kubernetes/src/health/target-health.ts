import { setTimeout as sleep } from 'node:timers/promises';
import type { TargetHealth } from '@slipway/target-driver';
import { ApiError, isMissingRight, UnreachableError, type ApiCall } from '../api/errors.js';
import { apiVersionOf, type KubeKind } from '../api/kinds.js';
import type { KubeApi } from '../api/requests.js';
import { withoutAnyRight } from '../config/namespace-problems.js';
import { isGranted, ruleText, type Rule } from './target-health-rules.js';

export interface TargetHealthOptions {
  /** The address of the API server, for people. */
  server: string;
  namespaces(): readonly string[];
  rules(): readonly Rule[];
  /** Types that not every server has. */
  kinds(): readonly KubeKind[];
  /** Each namespace and type is checked once within this time. */
  roundMs?: number;
  /** A server that answered no call for this long gets a request, while the target is in use. */
  quietMs?: number;
  /** How long an API server may take for an answer before it counts as away. */
  limitMs?: number;
  /** The pause between two checks of what is missing, and the first one while the API server is away. */
  repairMs?: number;
}

const ROUND_MS = 60_000;
/** With the limit, a server that stops answering is reported within 15 s. */
const QUIET_MS = 6_500;
const LIMIT_MS = 8_000;
const REPAIR_MS = 1_000;
const LONGEST_AWAY_FACTOR = 4;
const MISSING_FACTOR = 5;
/** The time of `repairMs` for each right that needs a request of its own, because the server cannot list it. */
const UNLISTED_FACTOR = 10;
/** A process that does not use the target makes no calls, so it need not know soon that the server is away. */
const UNUSED_AFTER_MS = 30_000;
const NAMED_RIGHTS = 8;

/** All rights in a namespace, one right there that the server cannot list, or whether the server has a type. */
type Question = { key: string } & ({ namespace: string; rule?: Rule } | { kind: KubeKind });

/**
 * Checks whether a target can be used: whether the necessary types exist, the rights are granted and the server answers.
 * So a missing right is named before a call needs it, and a silent server is noticed although every watch is silent. One
 * request reviews all rights in a namespace. An answer to any call of this process shows that the server is not away.
 */
export class TargetHealthWatch {
  /** Texts of missing rights, by namespace. */
  private readonly missing = new Map<string, Set<string>>();
  private readonly missingTypes = new Set<string>();
  /** Rights that the server could not list, by namespace. */
  private readonly unlisted = new Map<string, Rule[]>();
  /** When questions are due and when they were last answered, by `performance.now()` and key. */
  private readonly due = new Map<string, number>();
  private readonly answered = new Map<string, number>();
  private trouble?: { since: string; message: string; failures: number };
  private loop?: Promise<void>;
  private isClosed = false;
  private isUrgent = false;
  private usedAt = -Infinity;
  private askedAt = -Infinity;
  /** Ends a wait: for the next request, or for an answer. */
  private wake = new AbortController();
  private asking = new AbortController();

  constructor(
    private readonly api: Pick<KubeApi, 'rules' | 'review' | 'knows' | 'reopen' | 'lastAnswerAt'>,
    private readonly options: TargetHealthOptions,
  ) {}

  start(): void {
    if (!this.isClosed) this.loop ??= this.run();
  }

  /** The target is in use by this process. */
  used(): void {
    const wasUnused = performance.now() - this.usedAt > UNUSED_AFTER_MS;
    this.usedAt = performance.now();
    if (wasUnused) this.wake.abort();
  }

  /** Another call has failed, or works again (`null`). The next request then need not wait for its time. */
  note(error: unknown): void {
    const isAnswer = error instanceof ApiError && error.status !== 401 && error.status < 500;
    if (!isAnswer) this.isUrgent = this.trouble === undefined || error === null;
    else if (isMissingRight(error)) this.reviewSoon(error.call);
    else return;
    this.wake.abort();
  }

  get state(): TargetHealth {
    const { trouble } = this;
    if (trouble) return { state: 'degraded', message: `${trouble.message}, since ${trouble.since}` };
    const { server, rules, kinds } = this.options;
    const types = kinds()
      .map(keyOfType)
      .filter((type) => this.missingTypes.has(type));
    const missing = this.options
      .namespaces()
      .flatMap((namespace) => rules().map((rule) => ({ namespace, rule })))
      .filter(({ namespace, rule }) => this.isMissing(namespace, rule));
    if (types.length + missing.length === 0) return { state: 'ok' };
    const { namespaces, others } = withoutAnyRight(missing, rules().length);
    const rights = others.map(({ namespace, rule }) => `${ruleText(rule)} in namespace ${namespace}`);
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

  private isMissing(namespace: string, rule: Rule): boolean {
    return this.missing.get(namespace)?.has(ruleText(rule)) === true;
  }

  /** A call was refused, so a review must name the right, unless the last one just has. */
  private reviewSoon({ namespace, verb, resource: name, group }: ApiCall): void {
    const [resource = '', subresource] = name.split('/');
    const rule: Rule = { verb, group, resource, ...(subresource !== undefined && { subresource }) };
    if (this.isMissing(namespace, rule)) return;
    for (const key of [namespace, keyOfRight(namespace, rule)]) {
      const earliest = (this.answered.get(key) ?? -Infinity) + this.repairMs * MISSING_FACTOR;
      if (this.due.has(key)) this.due.set(key, Math.min(this.due.get(key)!, Math.max(earliest, performance.now())));
    }
  }

  private questions(): Question[] {
    const { kinds, namespaces } = this.options;
    return [
      ...kinds().map((kind) => ({ key: keyOfType(kind), kind })),
      ...namespaces().flatMap((namespace) => [
        { key: namespace, namespace },
        ...(this.unlisted.get(namespace) ?? []).map((rule) => ({ key: keyOfRight(namespace, rule), namespace, rule })),
      ]),
    ];
  }

  private async run(): Promise<void> {
    while (!this.isClosed) {
      const { question, waitMs } = this.next();
      if (question && waitMs <= 0) await this.ask(question);
      else await this.pause(waitMs);
    }
  }

  /** The question that is due first, and how long it can wait. */
  private next(): { question?: Question; waitMs: number } {
    const now = performance.now();
    const dueOf = ({ key }: Question) => this.due.get(key) ?? 0;
    const [question] = this.questions().sort((a, b) => dueOf(a) - dueOf(b));
    if (!question) return { waitMs: this.repairMs };
    const { quietMs = QUIET_MS } = this.options;
    const isUsed = now - this.usedAt <= UNUSED_AFTER_MS;
    const quietAt = isUsed ? Math.max(this.api.lastAnswerAt, this.askedAt) + quietMs : Infinity;
    const isFirst = !this.due.has(question.key);
    const wantedAt = this.isUrgent ? 0 : Math.min(dueOf(question), quietAt);
    // Questions without an answer so far follow each other. All others keep a distance.
    const waitMs = isFirst && !this.trouble ? 0 : Math.max(wantedAt, this.askedAt + this.distanceMs()) - now;
    return { question, waitMs };
  }

  private distanceMs(): number {
    const { failures = 0 } = this.trouble ?? {};
    // The news of other calls come often. In trouble, one may be its end.
    if (this.isUrgent) return this.repairMs * (this.trouble ? 1 : MISSING_FACTOR);
    const factor = Math.min(LONGEST_AWAY_FACTOR, 2 ** Math.max(0, failures - 1));
    return this.repairMs * factor * (0.8 + 0.2 * Math.random());
  }

  private async ask(question: Question): Promise<void> {
    const { limitMs = LIMIT_MS, server } = this.options;
    this.isUrgent = false;
    this.askedAt = performance.now();
    this.asking = new AbortController();
    const late = sleep(limitMs, 'late' as const, { signal: this.asking.signal }).catch(() => 'late' as const);
    try {
      const answer = await Promise.race([this.answerTo(question), late]);
      if (this.isClosed) return;
      if (answer === 'late') return this.fail(`${server} has not responded within ${limitMs / 1_000} s`);
      this.trouble = undefined;
      answer();
      const { key } = question;
      this.answered.set(key, performance.now());
      this.due.set(key, performance.now() + this.waitAfter(question));
    } catch (error) {
      // Other calls showed the trouble, and their message is the better one.
      if (error instanceof UnreachableError && error.code === 'PAUSED' && this.trouble) return;
      this.fail(error instanceof Error ? error.message : String(error));
    } finally {
      this.asking.abort();
    }
  }

  /** Requests the answer, and returns what it changes. */
  private async answerTo(question: Question): Promise<() => void> {
    if ('kind' in question) {
      const isThere = await this.api.knows(question.kind);
      return () => void (isThere ? this.missingTypes.delete(question.key) : this.missingTypes.add(question.key));
    }
    const { namespace, rule } = question;
    if (rule) {
      const isAllowed = await this.api.review(namespace, rule);
      return () => this.noteRights(namespace, [rule], isAllowed ? [] : [rule]);
    }
    const { rules, isIncomplete } = await this.api.rules(namespace);
    return () => {
      const needed = this.options.rules();
      const lacking = needed.filter((one) => !rules.some((granted) => isGranted(one, granted)));
      const listed = isIncomplete ? needed.filter((one) => !lacking.includes(one)) : needed;
      this.unlisted.set(namespace, isIncomplete ? lacking : []);
      this.noteRights(namespace, listed, isIncomplete ? [] : lacking);
    };
  }

  private noteRights(namespace: string, reviewed: readonly Rule[], lacking: readonly Rule[]): void {
    const missing = this.missing.get(namespace) ?? new Set<string>();
    const granted = reviewed.filter((rule) => !lacking.includes(rule) && missing.delete(ruleText(rule)));
    for (const rule of lacking) missing.add(ruleText(rule));
    this.missing.set(namespace, missing);
    if (granted.length === 0) return;
    const names = new Set(granted.map(ruleText));
    this.api.reopen(
      ({ namespace: where, verb, resource, group }) =>
        where === namespace && names.has(ruleText({ verb, resource, group })),
    );
  }

  private waitAfter(question: Question): number {
    const { roundMs = ROUND_MS } = this.options;
    const { repairMs } = this;
    const unlisted = [...this.unlisted.values()].reduce((sum, rules) => sum + rules.length, 0);
    const isRight = 'rule' in question && question.rule !== undefined;
    const isMissing =
      'kind' in question
        ? this.missingTypes.has(question.key)
        : isRight
          ? this.isMissing(question.namespace, question.rule!)
          : (this.missing.get(question.namespace)?.size ?? 0) > 0 && unlisted === 0;
    if (isMissing) return repairMs * MISSING_FACTOR;
    const roundOf = isRight ? Math.max(roundMs, repairMs * UNLISTED_FACTOR * unlisted) : roundMs;
    return roundOf * (0.8 + 0.2 * Math.random());
  }

  private fail(message: string): void {
    if (this.isClosed) return;
    const { since = new Date().toISOString(), failures = 0 } = this.trouble ?? {};
    this.trouble = { since, message, failures: failures + 1 };
  }

  private get repairMs(): number {
    return this.options.repairMs ?? REPAIR_MS;
  }

  private async pause(waitMs: number): Promise<void> {
    if (this.isClosed) return;
    this.wake = new AbortController();
    const { signal } = this.wake;
    // Not for ever, because the namespaces may change, and another client may get the last answer.
    const ms = Math.min(Math.max(1, waitMs), this.repairMs * MISSING_FACTOR);
    await sleep(ms, undefined, { signal }).catch(() => undefined);
  }
}

const keyOfType = (kind: KubeKind): string => `${kind.plural}.${apiVersionOf(kind)}`;
const keyOfRight = (namespace: string, rule: Rule): string => `${namespace} ${ruleText(rule)}`;

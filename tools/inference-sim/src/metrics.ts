const BOUNDS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

class Histogram {
  private readonly buckets = new Array<number>(BOUNDS_SECONDS.length + 1).fill(0);
  private sum = 0;

  constructor(
    private readonly name: string,
    private readonly help: string,
  ) {}

  observe(seconds: number): void {
    const index = BOUNDS_SECONDS.findIndex((bound) => seconds <= bound);
    this.buckets[index === -1 ? BOUNDS_SECONDS.length : index]! += 1;
    this.sum += seconds;
  }

  lines(): string[] {
    let total = 0;
    const buckets = this.buckets.map((number, index) => {
      total += number;
      return `${this.name}_bucket{le="${BOUNDS_SECONDS[index] ?? '+Inf'}"} ${total}`;
    });
    const title = [`# HELP ${this.name} ${this.help}`, `# TYPE ${this.name} histogram`];
    return [...title, ...buckets, `${this.name}_sum ${this.sum}`, `${this.name}_count ${total}`];
  }
}

/** Metrics of an engine that computes in batches, in addition to those of all simulators. */
export interface BatchFigures {
  running: number;
  waiting: number;
  preemptions: number;
  /** 0..1; undefined if the KV cache has no limit. */
  kvUsage: number | undefined;
}

/** The metrics of /metrics. Plain counters: a metrics library would cost more than the answers it counts. */
export class Metrics {
  private readonly answered = new Map<string, number>();
  private readonly ttft = new Histogram(
    'inference_sim_time_to_first_token_seconds',
    'Time to the first token of a streamed response.',
  );
  private readonly duration = new Histogram(
    'inference_sim_request_duration_seconds',
    'Time from the arrival of a request to its end.',
  );
  private inFlight = 0;
  private aborted = 0;
  private promptTokens = 0;
  private completionTokens = 0;

  arrived(): void {
    this.inFlight += 1;
  }

  left(endpoint: string, status: number, seconds: number, isComplete: boolean): void {
    this.inFlight -= 1;
    if (!isComplete) this.aborted += 1;
    const key = `endpoint="${endpoint}",status="${status}"`;
    this.answered.set(key, (this.answered.get(key) ?? 0) + 1);
    this.duration.observe(seconds);
  }

  firstToken(seconds: number): void {
    this.ttft.observe(seconds);
  }

  tokens(prompt: number, completion: number): void {
    this.promptTokens += prompt;
    this.completionTokens += completion;
  }

  text(isReady: boolean, batch?: BatchFigures): string {
    return [
      '# HELP inference_sim_requests_total Finished inference requests, with or without a response.',
      '# TYPE inference_sim_requests_total counter',
      ...[...this.answered].map(([labels, number]) => `inference_sim_requests_total{${labels}} ${number}`),
      ...value('inference_sim_requests_in_flight', 'gauge', 'Inference requests in flight.', this.inFlight),
      ...value(
        'inference_sim_requests_aborted_total',
        'counter',
        'Inference requests whose client disconnected before the end.',
        this.aborted,
      ),
      ...value('inference_sim_prompt_tokens_total', 'counter', 'Prompt tokens read.', this.promptTokens),
      ...value('inference_sim_completion_tokens_total', 'counter', 'Completion tokens written.', this.completionTokens),
      ...value('inference_sim_ready', 'gauge', '1 if /health returns 200, otherwise 0.', isReady ? 1 : 0),
      ...(batch ? batchLines(batch) : []),
      ...this.ttft.lines(),
      ...this.duration.lines(),
      '',
    ].join('\n');
  }
}

function value(name: string, type: 'counter' | 'gauge', help: string, number: number): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, `${name} ${number}`];
}

function batchLines({ running, waiting, preemptions, kvUsage }: BatchFigures): string[] {
  const preempted = 'Sequences that lost their KV cache and were computed again.';
  const usage = 'Reserved share of the KV cache, from 0 to 1.';
  return [
    ...value('inference_sim_requests_running', 'gauge', 'Inference requests in the batch.', running),
    ...value('inference_sim_requests_waiting', 'gauge', 'Inference requests that wait for the batch.', waiting),
    ...value('inference_sim_preemptions_total', 'counter', preempted, preemptions),
    ...(kvUsage === undefined ? [] : value('inference_sim_kv_cache_usage_ratio', 'gauge', usage, kvUsage)),
  ];
}

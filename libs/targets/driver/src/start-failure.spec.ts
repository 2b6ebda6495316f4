import { describe, expect, it } from '@jest/globals';
import type { ObservationReason } from '@slipway/contracts';
import type { LogLine } from './logs.js';
import { redactSecrets } from './redaction.js';
import { startFailure, type StartEnd } from './start-failure.js';

const linesOf = (texts: readonly string[]): LogLine[] => texts.map((text) => ({ stream: 'stderr', text }));
const failureOf = (texts: readonly string[], end: Partial<StartEnd> = {}) =>
  startFailure({ code: 1, signal: null, ...end }, linesOf(texts));

const VLLM_USAGE = [
  'usage: vllm serve [model_tag] [options]',
  ...Array.from({ length: 180 }, (_, number) => `                  [--option-${number} OPTION_${number}]`),
  '                  [--api-key API_KEY [API_KEY ...]] [--hf-token [HF_TOKEN]]',
];
const SGLANG_USAGE = [
  'usage: launch_server.py [-h] --model-path MODEL_PATH',
  ...Array.from({ length: 260 }, () => '                        [--mem-fraction-static MEM_FRACTION_STATIC]'),
];
const LLAMA_USAGE = [
  'usage: llama-server [options]',
  '',
  '----- common params -----',
  '',
  ...Array.from({ length: 320 }, () => '-c,    --ctx-size N                     size of the prompt context'),
  '                                        (env: LLAMA_ARG_CTX_SIZE)',
  '--api-key KEY                           API key to use for authentication (default: none)',
];
const GO_USAGE = ['Usage of llama-swap:', '  -config string', '    \tconfig file name (default "config.yaml")'];
const COBRA_USAGE = [
  'Usage:',
  '  ollama serve [flags]',
  '',
  'Aliases:',
  '  serve, start',
  '',
  'Flags:',
  '  -h, --help   help for serve',
  '',
  'Environment Variables:',
  '      OLLAMA_DEBUG               Show additional debug information (e.g. OLLAMA_DEBUG=1)',
];
const CLAP_USAGE = ['', 'Usage: text-generation-launcher [OPTIONS]', '', "For more information, try '--help'."];

/** Outputs of engines that ended: the cause, the exact line that names it, and the output. */
const OUTPUTS: [name: string, cause: ObservationReason, line: string, output: string[], code?: number][] = [
  [
    'vLLM with an unknown argument',
    'bad_argument',
    'vllm: error: unrecognized arguments: --foo',
    [
      'INFO 11-30 10:00:00 [__init__.py:216] Automatically detected platform cuda.',
      ...VLLM_USAGE,
      'vllm: error: unrecognized arguments: --foo',
    ],
    2,
  ],
  [
    'vLLM with an invalid choice',
    'bad_argument',
    "vllm serve: error: argument --quantization/-q: invalid choice: 'foo' (choose from awq, fp8)",
    [...VLLM_USAGE, "vllm serve: error: argument --quantization/-q: invalid choice: 'foo' (choose from awq, fp8)"],
    2,
  ],
  [
    'vLLM whose engine core failed',
    'exited',
    "(EngineCore_DP0 pid=272) ValueError: Model architectures ['FooForCausalLM'] are not supported for now.",
    [
      '(EngineCore_DP0 pid=272) Traceback (most recent call last):',
      '(EngineCore_DP0 pid=272)   File "/usr/local/lib/python3.12/dist-packages/vllm/v1/engine/core.py", line 691, in run_engine_core',
      "(EngineCore_DP0 pid=272) ValueError: Model architectures ['FooForCausalLM'] are not supported for now.",
      '(APIServer pid=1) Traceback (most recent call last):',
      '(APIServer pid=1)   File "/usr/local/bin/vllm", line 8, in <module>',
      '(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}',
      '/usr/lib/python3.12/multiprocessing/resource_tracker.py:254: UserWarning: There appear to be 1 leaked shared_memory objects',
      '  warnings.warn(',
    ],
  ],
  [
    'vLLM with an unknown model type',
    'exited',
    '  Value error, The checkpoint you are trying to load has model type `foo` but Transformers does not recognize this architecture.',
    [
      'pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig',
      '  Value error, The checkpoint you are trying to load has model type `foo` but Transformers does not recognize this architecture.',
      '    For further information visit https://errors.pydantic.dev/2.11/v/value_error',
    ],
  ],
  [
    'vLLM without enough memory',
    'gpu_memory',
    'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.',
    [
      'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.',
      'RuntimeError: Engine core initialization failed. See root cause above.',
    ],
  ],
  [
    'SGLang with an unknown argument',
    'bad_argument',
    'launch_server.py: error: unrecognized arguments: --foo',
    [...SGLANG_USAGE, 'launch_server.py: error: unrecognized arguments: --foo'],
    2,
  ],
  [
    'SGLang whose scheduler failed',
    'exited',
    "ValueError: Unsupported architectures: ['FooModel']",
    [
      '[2026-03-01 10:00:00 TP0] Scheduler hit an exception: Traceback (most recent call last):',
      '  File "/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py", line 2714, in run_scheduler_process',
      "ValueError: Unsupported architectures: ['FooModel']",
      '',
      '[2026-03-01 10:00:01] Received sigquit from a child process. It usually means the child failed.',
      'Killed',
    ],
    131,
  ],
  [
    'SGLang without a required argument',
    'bad_argument',
    'launch_server.py: error: the following arguments are required: --model-path/--model',
    [...SGLANG_USAGE, 'launch_server.py: error: the following arguments are required: --model-path/--model'],
    2,
  ],
  [
    'llama.cpp with an unknown argument',
    'bad_argument',
    'error: invalid argument: --foo',
    ['error: invalid argument: --foo'],
  ],
  [
    'an older llama.cpp, which prints its usage after the error',
    'bad_argument',
    'error: unknown argument: --foo',
    ['error: unknown argument: --foo', ...LLAMA_USAGE],
  ],
  [
    'llama.cpp with a value that it cannot read',
    'bad_argument',
    'error while handling argument "--ctx-size": stoi',
    ['error while handling argument "--ctx-size": stoi', '', ...LLAMA_USAGE],
  ],
  [
    'llama.cpp without its model',
    'model_missing',
    'gguf_init_from_file: failed to open GGUF file /m/x.gguf (No such file or directory)',
    [
      'gguf_init_from_file: failed to open GGUF file /m/x.gguf (No such file or directory)',
      "srv    load_model: failed to load model, '/m/x.gguf'",
      'srv    operator(): operator(): cleaning up before exit...',
      'main: exiting due to model loading error',
    ],
  ],
  [
    'llama.cpp with an unknown architecture',
    'exited',
    "llama_model_load: error loading model: error loading model architecture: unknown model architecture: 'foo'",
    [
      "llama_model_load: error loading model: error loading model architecture: unknown model architecture: 'foo'",
      'llama_model_load_from_file_impl: failed to load model',
      'main: exiting due to model loading error',
    ],
  ],
  [
    'llama.cpp on a port in use',
    'port_in_use',
    "start: couldn't bind HTTP server socket, hostname: 0.0.0.0, port: 8080",
    [
      "start: couldn't bind HTTP server socket, hostname: 0.0.0.0, port: 8080",
      'main: exiting due to HTTP server error',
    ],
  ],
  [
    'TEI with an unknown argument',
    'bad_argument',
    "error: unexpected argument '--foo' found",
    ["error: unexpected argument '--foo' found", '', "  tip: a similar argument exists: '--port'", ...CLAP_USAGE],
    2,
  ],
  [
    'TEI whose backend failed',
    'exited',
    '    Could not start backend: Model architecture not supported',
    [
      'Error: Could not create backend',
      '',
      'Caused by:',
      '    Could not start backend: Model architecture not supported',
    ],
  ],
  [
    'TGI without a required argument',
    'bad_argument',
    'error: the following required arguments were not provided: --model-id <MODEL_ID>',
    ['error: the following required arguments were not provided:', '  --model-id <MODEL_ID>', ...CLAP_USAGE],
    2,
  ],
  [
    'TGI with an invalid value',
    'bad_argument',
    "error: invalid value 'abc' for '--port <PORT>': invalid digit found in string",
    [
      "error: invalid value 'abc' for '--port <PORT>': invalid digit found in string",
      '',
      "For more information, try '--help'.",
    ],
    2,
  ],
  [
    'TGI whose shard failed',
    'exited',
    'ValueError: Unsupported model type foo rank=0',
    [
      '2026-03-01T10:00:00.000Z ERROR shard-manager: text_generation_launcher: Shard complete standard error output:',
      '',
      'Traceback (most recent call last):',
      '  File "/opt/conda/bin/text-generation-server", line 10, in <module>',
      'ValueError: Unsupported model type foo rank=0',
      '2026-03-01T10:00:00.100Z ERROR text_generation_launcher: Shard 0 failed to start',
      '2026-03-01T10:00:00.100Z  INFO text_generation_launcher: Shutting down shards',
      'Error: ShardCannotStart',
    ],
  ],
  [
    'Ollama with an unknown flag',
    'bad_argument',
    'Error: unknown flag: --foo',
    ['Error: unknown flag: --foo', ...COBRA_USAGE],
  ],
  [
    'Ollama with an unknown command',
    'bad_argument',
    'Error: unknown command "srve" for "ollama"',
    ['Error: unknown command "srve" for "ollama"', '', 'Did you mean this?', '\tserve', ''],
  ],
  [
    'Ollama on a port in use',
    'port_in_use',
    'Error: listen tcp 127.0.0.1:11434: bind: address already in use',
    ['Error: listen tcp 127.0.0.1:11434: bind: address already in use'],
  ],
  [
    'cobra with an invalid value',
    'bad_argument',
    'Error: invalid argument "x" for "--port" flag: strconv.ParseInt: parsing "x": invalid syntax',
    ['Error: invalid argument "x" for "--port" flag: strconv.ParseInt: parsing "x": invalid syntax', ...COBRA_USAGE],
  ],
  [
    'cobra without a required flag',
    'bad_argument',
    'Error: required flag(s) "model" not set',
    ['Error: required flag(s) "model" not set', ...COBRA_USAGE],
  ],
  [
    'Go with an unknown flag',
    'bad_argument',
    'flag provided but not defined: -foo',
    ['flag provided but not defined: -foo', ...GO_USAGE],
    2,
  ],
  [
    'Go with a panic',
    'exited',
    'panic: runtime error: invalid memory address or nil pointer dereference',
    [
      'panic: runtime error: invalid memory address or nil pointer dereference',
      '[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x4a]',
      '',
      'goroutine 1 [running]:',
      'main.main()',
      '\t/src/main.go:10 +0x1d',
    ],
    1,
  ],
  [
    'LM Studio with an unknown option',
    'bad_argument',
    "error: unknown option '--foo'",
    ["error: unknown option '--foo'"],
  ],
  [
    'LM Studio with unknown arguments',
    'bad_argument',
    '                   ^ Unknown arguments',
    [
      'error: found 1 error',
      '',
      '  lms server start --foo',
      '                   ^ Unknown arguments',
      '',
      "hint: for more information, try 'lms server start --help'",
    ],
  ],
  [
    'click with an unknown option',
    'bad_argument',
    'Error: No such option: --foo',
    ['Usage: lmdeploy [OPTIONS]', "Try 'lmdeploy --help' for help.", '', 'Error: No such option: --foo'],
    2,
  ],
  [
    'click with an invalid value',
    'bad_argument',
    "Error: Invalid value for '--port': 'x' is not a valid integer.",
    [
      'Usage: serve [OPTIONS]',
      "Try 'serve --help' for help.",
      '',
      "Error: Invalid value for '--port': 'x' is not a valid integer.",
    ],
    2,
  ],
  [
    'argparse with a missing value',
    'bad_argument',
    'serve.py: error: argument --api-key: expected one argument',
    ['usage: serve.py [-h] [--api-key API_KEY]', 'serve.py: error: argument --api-key: expected one argument'],
    2,
  ],
  [
    'Python with several causes',
    'exited',
    'RuntimeError: the cache is not writable',
    [
      'Traceback (most recent call last):',
      '  File "a.py", line 1, in <module>',
      "PermissionError: [Errno 13] Permission denied: '/cache'",
      '',
      'The above exception was the direct cause of the following exception:',
      '',
      'Traceback (most recent call last):',
      '  File "a.py", line 3, in <module>',
      'RuntimeError: the cache is not writable',
    ],
  ],
  [
    'Rust with a panic',
    'exited',
    "thread 'main' panicked at src/main.rs:4:5: no weights",
    [
      "thread 'main' panicked at src/main.rs:4:5: no weights",
      'note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace',
    ],
    101,
  ],
  [
    'C++ with an exception',
    'exited',
    '  what():  unsupported tensor type',
    ["terminate called after throwing an instance of 'std::runtime_error'", '  what():  unsupported tensor type'],
    134,
  ],
  [
    'getopt with an unknown option',
    'bad_argument',
    "server: unrecognized option '--foo'",
    ["server: unrecognized option '--foo'", 'Usage: server [-p port]', '  -p  port'],
  ],
  [
    'kong with an unknown flag',
    'bad_argument',
    'local-ai: error: unknown flag --foo',
    ['local-ai: error: unknown flag --foo'],
  ],
  [
    'Node with an unknown option',
    'bad_argument',
    "TypeError [ERR_PARSE_ARGS_UNKNOWN_OPTION]: Unknown option '--foo'",
    [
      "TypeError [ERR_PARSE_ARGS_UNKNOWN_OPTION]: Unknown option '--foo'",
      '    at checkUnknownOption (node:internal/util/parse_args:9:9)',
      '',
      'Node.js v20.19.0',
    ],
  ],
  [
    'absl with an unknown flag',
    'bad_argument',
    "FATAL Flags parsing error: Unknown command line flag 'foo'",
    [
      "FATAL Flags parsing error: Unknown command line flag 'foo'",
      'Pass --helpshort or --helpfull to see help on flags.',
    ],
  ],
  [
    'a program that only prints its usage',
    'bad_argument',
    'Usage: engine --port PORT --model PATH',
    [
      'Usage: engine --port PORT --model PATH',
      '',
      'Options:',
      '  --port PORT   the port',
      '  --model PATH  out of memory? use a smaller one: CUDA out of memory',
    ],
    2,
  ],
  [
    'a program that ends with a log line of klog',
    'exited',
    'E0301 10:00:00.123456       1 main.go:12] cannot read the weights',
    [
      'E0301 10:00:00.123456       1 main.go:12] cannot read the weights',
      'I0301 10:00:00.123457       1 main.go:13] bye',
    ],
  ],
];

describe('the output of a failed start', () => {
  it.each(OUTPUTS)('of %s is %s, shown as: %s', (_name, cause, line, output, code = 1) => {
    const { log_tail: tail, ...failure } = failureOf(output, { code });
    expect(failure).toMatchObject({ cause, line });
    expect(tail.length).toBeLessThanOrEqual(40);
    // The first line of the usage text and the line that names the cause are kept, however long the text is.
    const [usage] = output.filter((one) => /^usage/i.test(one));
    if (usage !== undefined) expect(tail).toContain(usage);
    expect(tail.some((one) => line.startsWith(one))).toBe(true);
  });

  it.each(OUTPUTS)('of %s contains no secret, so it is shown unchanged', (_name, _cause, _line, output) => {
    expect(output.map((one) => redactSecrets(one))).toEqual(output);
  });

  it('keeps the order of its lines, and says how many it omits', () => {
    const { log_tail: tail } = failureOf(['error: unknown argument: --foo', ...LLAMA_USAGE]);
    expect(tail.slice(0, 3)).toEqual([
      'error: unknown argument: --foo',
      'usage: llama-server [options]',
      `… (${LLAMA_USAGE.length - 38} lines omitted)`,
    ]);
    expect([tail.length, tail.at(-1)]).toEqual([40, LLAMA_USAGE.at(-1)]);
  });

  it('shows the part of a long line that names the cause', () => {
    const long = `{"level":"error","context":"${'x'.repeat(3_000)}","error":"address already in use"}`;
    const { line } = failureOf([long]);
    expect(line).toContain('address already in use');
    expect(line!.length).toBeLessThanOrEqual(500);
  });

  it('takes an error of long ago for no reason of the end', () => {
    const later = Array.from({ length: 80 }, (_, number) => `step ${number}`);
    expect(failureOf(['error: telemetry is off', ...later]).line).toBe('step 79');
    expect(failureOf(['Error: no such option: --x', ...later]).cause).toBe('bad_argument');
  });

  it('has no line if it is empty', () => {
    expect(failureOf(['', ' '])).toMatchObject({ cause: 'exited', log_tail: ['', ' '] });
    expect(failureOf([]).line).toBeUndefined();
  });
});

describe('the remediation', () => {
  const CAUSES = [
    'gpu_memory',
    'out_of_memory',
    'program_not_found',
    'model_missing',
    'driver',
    'start_failed',
  ] as const;

  it.each(CAUSES)('of %s in a pod names what a revision and the file of a cluster have', (known) => {
    const inPod = failureOf([], { known, isInPod: true }).remediation;
    expect(inPod).not.toMatch(/\bhost\b|prefetch/);
    expect(inPod).toMatch(/resources|image|pod|node/);
    expect(inPod).not.toBe(failureOf([], { known }).remediation);
  });
});

import { OperatorConfigError, parseOperatorConfig } from '@slipway/platform-config';
import type { InstanceSpec } from '@slipway/target-driver';
import type { Deployment, LeaderWorkerSet } from '../src/api/objects.js';
import { kubernetesTarget } from '../src/kubernetes-target.js';
import type { KubernetesTargetConfig } from '../src/target-config.js';
import { unitOf } from '../src/manifests/unit.js';

/** A target as an operator writes it: one pod on a GPU, a group on two nodes, and one pod without a GPU. */
export const WRITTEN_TARGET = `
name: gpu
kind: kubernetes
cluster: in-cluster
namespaces: {default: slipway-models, by_tenant: {acme: models-acme}}
reach: pod
secrets: reference
max_instances: 64
accelerators:
  l40s: {resource: nvidia.com/gpu, max_count: 4, node_selector: {nvidia.com/gpu.product: NVIDIA-L40S}, tolerations: [{key: nvidia.com/gpu, operator: Exists}]}
  h100: {resource: nvidia.com/gpu, max_count: 8, node_selector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}, runtime_class: nvidia}
engines:
  vllm:
    image: vllm/vllm-openai:v0.18.0
    command: [vllm, serve, "{model.id}", --revision, "{model.revision}", --host, 0.0.0.0, --port, "{port}", --shutdown-timeout, "{drain}"]
    port: 8000
    key_env: VLLM_API_KEY
    args: {max_model_len: "--max-model-len={}", quantization: "--quantization={}", prefix_caching: "--enable-prefix-caching"}
    env_allow: [VLLM_LOGGING_LEVEL, HF_TOKEN]
    ready: {path: /health, timeout_seconds: 1800}
    stop: {drain_seconds: 120}
    resources: {requests: {cpu: "4", memory: 48Gi}, limits: {memory: 48Gi}}
    allow: {accelerators: [l40s, h100], count: {max: 4, arg: "--tensor-parallel-size={}"}, memory_mb: {max: 98304}, max_replicas: 8}
    pod:
      spec:
        priorityClassName: inference
        containers: [{name: engine, env: [{name: HF_HOME, value: /weights}], volumeMounts: [{name: weights, mountPath: /weights}, {name: shm, mountPath: /dev/shm}]}]
        volumes: [{name: weights, persistentVolumeClaim: {claimName: hf-cache}}, {name: shm, emptyDir: {medium: Memory, sizeLimit: 8Gi}}]
  vllm-multinode:
    unit: {kind: leaderworkerset, size: 2}
    image: vllm/vllm-openai:v0.18.0
    command: [sh, -c, 'bash /vllm-workspace/examples/online_serving/multi-node-serving.sh leader --ray_cluster_size="$LWS_GROUP_SIZE" && exec vllm serve "$@"',
              vllm, "{model.id}", --host, 0.0.0.0, --port, "{port}", --tensor-parallel-size, "8", --pipeline-parallel-size, "2"]
    worker_command: [sh, -c, 'exec bash /vllm-workspace/examples/online_serving/multi-node-serving.sh worker --ray_address="$LWS_LEADER_ADDRESS"']
    port: 8000
    key_env: VLLM_API_KEY
    args: {max_model_len: "--max-model-len={}"}
    ready: {path: /health, timeout_seconds: 3600}
    allow: {accelerators: [h100], count: {fixed: 8}, max_replicas: 2}
    pod: {spec: {containers: [{name: engine, volumeMounts: [{name: shm, mountPath: /dev/shm}]}], volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 15Gi}}]}}
    worker_pod: {spec: {containers: [{name: engine}]}}
  llama-cpp:
    image: ghcr.io/ggml-org/llama.cpp:server
    command: [/app/llama-server, --host, 0.0.0.0, --port, "{port}", -m, "/model/{model.id}.gguf"]
    port: 8080
    key_env: LLAMA_API_KEY
    args: {ctx_size: [--ctx-size, "{}"], parallel: [--parallel, "{}"]}
    ready: {path: /health, timeout_seconds: 300}
    resources: {requests: {cpu: "4", memory: 8Gi}, limits: {memory: 8Gi}}
    allow: {memory_mb: {max: 16384}, max_replicas: 4}
    pod:
      spec:
        securityContext: {runAsNonRoot: true, runAsUser: 10001}
        containers: [{name: engine, securityContext: {readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}, volumeMounts: [{name: model, mountPath: /model, readOnly: true}]}]
        volumes: [{name: model, image: {reference: "registry.corp.example/models/qwen3-0.6b-gguf@sha256:0000"}}]
`;

/**
 * The first target of a file, with every default.
 * @throws OperatorConfigError if the file is invalid
 */
export function readTarget(written = WRITTEN_TARGET): KubernetesTargetConfig {
  const entry = written.trim().split('\n').join('\n    ');
  const { targets } = parseOperatorConfig(`targets:\n  - ${entry}\n`, [kubernetesTarget]);
  return targets[0] as KubernetesTargetConfig;
}

/** A target of one engine `e`, with these keys of the engine and of the target in addition to the required ones. */
export function engineWith(keys: Record<string, unknown>, target: Record<string, unknown> = {}): string {
  const engine = { image: 'sim:1', command: ['serve'], port: 80, ...keys };
  return JSON.stringify({
    name: 'k',
    kind: 'kubernetes',
    namespaces: { default: 'models' },
    engines: { e: engine },
    ...target,
  });
}

/** The problems of a target's text, without the prefix that all have in common. */
export function problemsOf(written: string): string[] {
  try {
    readTarget(written);
    return [];
  } catch (error) {
    if (!(error instanceof OperatorConfigError)) throw error;
    return error.problems.map((problem) => problem.replace(/^targets\[0\]\./, ''));
  }
}

/** A spec that the engine `vllm` of the written target accepts. */
export function specOf({ runtime, model, ...rest }: Partial<InstanceSpec> = {}): InstanceSpec {
  return {
    instanceId: '0192f3a4-5b6c-7d8e-9f01-23456789abcd',
    generation: 1,
    owner: {
      tenantId: '0192f3a4-0000-7000-8000-000000000001',
      deploymentId: '0192f3a4-0000-7000-8000-000000000002',
      revisionId: '0192f3a4-0000-7000-8000-0000deadbeef',
      revisionName: 'chat-00007',
      ordinal: 0,
    },
    model: { id: 'qwen', revision: 'main', ...model },
    runtime: { engine: 'vllm', args: {}, env: {}, ...runtime },
    resources: { accelerator: 'l40s' },
    probe: { intervalSeconds: 1, timeoutSeconds: 2, failureThreshold: 3 },
    instanceKey: 'key-of-this-generation',
    ...rest,
  };
}

export const WRITER = { installation: '0192f3a4-1111-7000-8000-00000000aaaa' };

/** The unit of a spec whose engine is one pod. */
export const deploymentOf = (...of: Parameters<typeof unitOf>): Deployment => unitOf(...of) as Deployment;

/** The unit of a spec whose engine is a group. */
export const groupOf = (...of: Parameters<typeof unitOf>): LeaderWorkerSet => unitOf(...of) as LeaderWorkerSet;

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { ControlPlane } from './control-plane.js';
import { TestBed } from './test-bed.js';

/** Shorter than the life of a token. */
const RENEW_MS = 1_800_000;
const NODES = [{ gpus: 8 }, {}];

/** A control plane with simulated nodes, for a person who tries the target without a cluster. */
export interface Trial {
  /** A kubeconfig of an administrator, for kubectl. */
  kubeconfig: string;
  namespace: string;
  /** An operator's file with a target for the namespace. */
  configFile: string;
  close(): Promise<void>;
}

/**
 * Starts the control plane and writes an operator's file. Its target has the rights that the chart grants, and one
 * engine: the simulator, as local processes.
 * @param bin the folder with the programs of Kubernetes
 */
export async function startTrial(bin: string): Promise<Trial> {
  const plane = await ControlPlane.start({ bin });
  try {
    const bed = await TestBed.open({ access: plane.access, nodes: NODES });
    const namespace = await bed.namespace();
    const granted = await bed.grant([namespace]);
    const renewing = setInterval(() => void granted.renew().catch(() => undefined), RENEW_MS);
    const configFile = path.join(path.dirname(granted.kubeconfig), 'slipway.config.yaml');
    writeFileSync(configFile, trialConfig(granted.kubeconfig, namespace));
    return {
      kubeconfig: plane.access.kubeconfig,
      namespace,
      configFile,
      close: async () => {
        clearInterval(renewing);
        await bed.close();
        await plane.stop();
      },
    };
  } catch (error) {
    await plane.stop();
    throw error;
  }
}

function trialConfig(kubeconfig: string, namespace: string): string {
  return `targets:
  - name: pods
    kind: kubernetes
    cluster: {kubeconfig: ${JSON.stringify(kubeconfig)}}
    namespaces: {default: ${namespace}}
    max_instances: 8
    accelerators:
      gpu: {resource: nvidia.com/gpu, max_count: 8}
    engines:
      sim:
        image: test/sim
        command: [sim, --host, 0.0.0.0, --port, "{port}", --model, "{model.id}"]
        port: 8000
        ready: {path: /health, timeout_seconds: 60}
        resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 256Mi}}
        allow: {accelerators: [gpu], count: {max: 8}, memory_mb: {max: 1024}, max_replicas: 8}
        gpus: {min: 0, max: 8, share: exclusive}
`;
}

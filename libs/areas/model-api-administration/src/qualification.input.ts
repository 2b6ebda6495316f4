export const QUALIFY = 'qualify_target_binding';

/** Stable names. The four in the middle call the target; `conclude` judges what they found. */
export const QUALIFICATION_STEPS = [
  'prepare',
  'await_ready',
  'list_models',
  'chat_completion',
  'streamed_completion',
  'unknown_model',
  'conclude',
] as const;

export interface QualificationInput {
  bindingId: string;
  /** Null for a supplier. */
  revisionId: string | null;
  deploymentId: string | null;
}

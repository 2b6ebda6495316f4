import { useMutation, useQueryClient, type QueryKey, type UseMutationResult } from '@tanstack/react-query';
import { toast } from 'sonner';

export interface ActionOptions<Given, Answer> {
  run: (given: Given) => Promise<Answer>;
  /** The queries that are read again after success. */
  renews?: QueryKey[];
  /** The message after success. */
  done?: string | ((answer: Answer) => string);
  onDone?: (answer: Answer) => void;
}

/**
 * An action that changes data. Its failure (`error`) stays with the calling
 * component, which shows it next to its controls.
 */
export function useAction<Given, Answer>({
  run,
  renews = [],
  done,
  onDone,
}: ActionOptions<Given, Answer>): UseMutationResult<Answer, Error, Given> {
  const client = useQueryClient();
  return useMutation<Answer, Error, Given>({
    mutationFn: run,
    onSuccess: (answer) => {
      for (const queryKey of renews) void client.invalidateQueries({ queryKey });
      if (done) toast.success(typeof done === 'string' ? done : done(answer));
      onDone?.(answer);
    },
  });
}

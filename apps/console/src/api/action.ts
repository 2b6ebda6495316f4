import { useMutation, useQueryClient, type QueryKey, type UseMutationResult } from '@tanstack/react-query';
import { toast } from 'sonner';

export interface ActionOptions<Given, Answer> {
  run: (given: Given) => Promise<Answer>;
  /** What is read anew once it is done. */
  renews?: QueryKey[];
  /** What is told once it is done. */
  done?: string | ((answer: Answer) => string);
  onDone?: (answer: Answer) => void;
}

/** Something that changes the world. Its failure stays with whoever asked (`error`), to be shown where they look. */
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

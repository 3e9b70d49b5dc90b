/** Commands that begin with /: read and carried out by the hub, by the one parser every surface uses. */
import { useQuery } from '@tanstack/react-query';
import { call, get } from '@/api/client';
import type { SlashCommand } from './completion';

export interface CommandAnswer {
  /** It was no command: post this instead. */
  say: string | null;
  /** Must be confirmed first. */
  asks: string | null;
  lines: string[];
  moved: string | null;
  left: boolean;
}

export function useCommands(): readonly SlashCommand[] {
  const answer = useQuery({
    queryKey: ['commands'],
    queryFn: () => get<{ commands: SlashCommand[] }>('/api/commands'),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return answer.data?.commands ?? [];
}

export const runCommand = (id: string, line: string, confirmed: boolean): Promise<CommandAnswer> =>
  call<CommandAnswer>('POST', `/api/conversations/${encodeURIComponent(id)}/commands`, { line, confirmed });

/** Who is here, what they are doing, and how far the brakes are. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { Link } from 'wouter';
import { at, call, errorText, get } from '@/api/client';
import type { BrakeReport } from '@/api/shapes';
import { useDerived, useEvents, useLive } from '@/live/hooks';
import { isAgent } from '@/live/state';
import { activityWords } from '@/parts/activity';
import { Mark } from '@/parts/Mark';
import { Meter } from '@/parts/Meter';
import { useToast } from '@/parts/Toasts';
import { useTitle } from '@/parts/talks';
import { useNow } from '@/parts/useNow';
import { isBusy } from '@/theme/agents';
import { words } from '@/words';

function useChain(id: string): BrakeReport['chains'][number] | undefined {
  const queries = useQueryClient();
  const key = ['limits', id];
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  useEvents((event) => {
    if (event.conversation !== id || !/^(turn\.finished|message\.posted|brake\.)/.test(event.type) || timer.current)
      return;
    timer.current = setTimeout(() => {
      timer.current = null;
      void queries.invalidateQueries({ queryKey: key });
    }, 800);
  });
  const answer = useQuery({
    queryKey: key,
    queryFn: () => get<BrakeReport>(at('/api/limits', { conversation: id })),
    retry: false,
    staleTime: 30_000,
  });
  return answer.data?.chains.at(-1);
}

function Seats({ id }: { id: string }) {
  const seats = useLive((live) => live.conversations[id]?.participants);
  const agents = useLive((live) => live.agents);
  const here = (seats ?? []).filter((seat) => isAgent(seat.kind));
  const now = useNow(here.some((seat) => isBusy(agents[seat.name]?.activity.state)) ? 1000 : 15_000);
  return (
    <div className="conversation__seats">
      {here.map((seat) => (
        <Link
          key={seat.name}
          href={`/agents/${encodeURIComponent(seat.name)}`}
          className="seat"
          title={activityWords(agents[seat.name], now)}
        >
          <Mark
            name={seat.name}
            mark={seat.mark}
            colour={agents[seat.name]?.color}
            state={agents[seat.name]?.activity.state}
          />
          <span>{seat.name}</span>
          <span className="seat__state">{activityWords(agents[seat.name], now)}</span>
        </Link>
      ))}
    </div>
  );
}

export function Header({ id, onDetails }: { id: string; onDetails: () => void }) {
  const toast = useToast();
  const conversation = useLive((live) => live.conversations[id]);
  const title = useTitle(id);
  const running = useDerived(
    (live) => [live.turns],
    (live) => Object.values(live.turns).some((turn) => turn.conversation === id && turn.state === 'running'),
  );
  const chain = useChain(id);
  if (!conversation) return null;
  const { reply_strategy: strategy, max_agent_turns_per_message: cap } = conversation.settings as {
    reply_strategy?: string;
    max_agent_turns_per_message?: number;
  };
  const stop = async () => {
    try {
      await call('POST', `/api/conversations/${encodeURIComponent(id)}/stop`, {});
    } catch (error) {
      toast(errorText(error), { bad: true });
    }
  };
  return (
    <header className="conversation__head">
      <Link href="/c" className="plain-button conversation__back" aria-label={words.nav.back}>
        ‹
      </Link>
      <div className="grow">
        <div className="row">
          <h1 className="cut">
            {conversation.kind === 'group' ? '# ' : ''}
            {title}
          </h1>
        </div>
        <div className="conversation__facts">
          {conversation.kind === 'group' && <span>{words.chat.strategyAndCap(strategy, cap)}</span>}
          {chain && (
            <>
              <Meter label="turns" used={chain.round ?? 0} max={chain.max_round ?? cap ?? 3} />
              <Meter label="chain" used={chain.turns} max={chain.max_turns} />
            </>
          )}
          <Seats id={id} />
        </div>
      </div>
      {running && (
        <button type="button" className="plain-button plain-button--line" onClick={stop} title={words.chat.stopAll}>
          ■ {words.chat.stop}
        </button>
      )}
      <button
        type="button"
        className="plain-button plain-button--line"
        onClick={onDetails}
        aria-label={words.chat.details}
      >
        ⋯
      </button>
    </header>
  );
}

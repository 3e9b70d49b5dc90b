/** How far a message of ours got: three ticks for all together, and on demand each agent with its times. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { get } from '@/api/client';
import type { DeliveryProgress, Message } from '@/api/shapes';
import { useLive } from '@/live/hooks';
import { Drop } from '@/parts/Drop';
import { Mark } from '@/parts/Mark';
import { exactTime } from '@/parts/time';
import { words } from '@/words';
import { reachOf, TICKS } from './ticks';

const SILENT = new Set(['observes', 'blocked']);

const after = (from: string | null, to: string | null): string =>
  from && to ? ` ${words.chat.after((Date.parse(to) - Date.parse(from)) / 1000)}` : '';

/** Queued, delivered, answered: each with its time, as far as it has come. */
function Steps({ row }: { row: DeliveryProgress }) {
  const { steps } = words.chat;
  if (SILENT.has(row.duty)) return null;
  const ended = words.why.states[row.state] ?? row.state;
  return (
    <span className="receipts__steps small" data-state={row.state}>
      <span>
        ✓ {steps.queued} {exactTime(row.stored_at)}
      </span>
      {row.started_at && (
        <span>
          ✓ {steps.delivered}
          {after(row.stored_at, row.started_at)}
        </span>
      )}
      {row.ended_at ? (
        <span>
          {row.state === 'answered' ? '✓' : row.state === 'failed' || row.state === 'expired' ? '!' : '–'} {ended}
          {after(row.stored_at, row.ended_at)}
        </span>
      ) : (
        <span>· {ended}</span>
      )}
    </span>
  );
}

export function Receipts({ message }: { message: Message }) {
  const [open, setOpen] = useState(false);
  const reach = useLive((live) => reachOf(live, message));
  const answer = useQuery({
    queryKey: ['deliveries', message.id, reach],
    queryFn: () =>
      get<{ deliveries: DeliveryProgress[] }>(`/api/messages/${encodeURIComponent(message.id)}/deliveries`),
    enabled: open,
    staleTime: 0,
    placeholderData: (before) => before,
  });
  const rows = answer.data?.deliveries;
  return (
    <span data-testid={`msg-${message.seq}-receipt`} data-reach={reach}>
      <Drop
        above
        text={TICKS[reach]}
        label={`${words.chat.receipts}: ${words.chat.reach[reach]}`}
        className="plain-button receipts__button"
        tabIndex={-1}
        onOpen={setOpen}
      >
        <div className="receipts">
          <h2>{words.chat.receipts}</h2>
          {(rows ?? []).map((row) => (
            <div key={row.agent} className="receipts__row" data-agent={row.agent}>
              <Mark name={row.agent} filled />
              <span className="grow">
                {row.agent}
                <span className="muted small"> {row.reason.replace(`${row.agent} `, '')}</span>
                <Steps row={row} />
                {row.error && <span className="receipts__error small">{row.error}</span>}
              </span>
            </div>
          ))}
          {rows?.length === 0 && <p className="muted small">{words.chat.nobodyHere}</p>}
        </div>
      </Drop>
    </span>
  );
}

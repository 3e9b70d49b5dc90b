/** How far a message of ours got with each agent: opened on demand. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { get } from '@/api/client';
import type { DeliveryProgress } from '@/api/shapes';
import { Drop } from '@/parts/Drop';
import { Mark } from '@/parts/Mark';
import { exactTime } from '@/parts/time';
import { words } from '@/words';

export function Receipts({ message }: { message: string }) {
  const [open, setOpen] = useState(false);
  const answer = useQuery({
    queryKey: ['deliveries', message],
    queryFn: () => get<{ deliveries: DeliveryProgress[] }>(`/api/messages/${encodeURIComponent(message)}/deliveries`),
    enabled: open,
    staleTime: 0,
  });
  return (
    <Drop
      above
      text="✓"
      label={words.chat.receipts}
      className="plain-button receipts__button"
      tabIndex={-1}
      onOpen={setOpen}
    >
      <div className="receipts">
        <h2>{words.chat.receipts}</h2>
        {(answer.data?.deliveries ?? []).map((row) => (
          <div key={row.agent} className="receipts__row">
            <Mark name={row.agent} filled />
            <span className="grow">
              {row.agent}
              <span className="muted small"> {row.reason.replace(`${row.agent} `, '')}</span>
            </span>
            <span className="small">
              {words.why.states[row.state] ?? row.state} {exactTime(row.ended_at ?? row.started_at ?? row.woken_at)}
            </span>
          </div>
        ))}
      </div>
    </Drop>
  );
}

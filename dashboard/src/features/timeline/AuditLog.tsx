/** Who did what, through which door, and what was refused; newest first. */
import { useQuery } from '@tanstack/react-query';
import { at, get, saidPlainly } from '@/api/client';
import type { AuditEntry } from '@/api/shapes';
import { useLive } from '@/live/hooks';
import { Empty, Trouble } from '@/parts/Page';
import { fullTime } from '@/parts/time';
import { words } from '@/words';

const REFUSED = /refus|denied|held|block/;

export function AuditLog({ refused }: { refused: boolean }) {
  const position = useLive((live) => Math.floor(live.position / 5));
  const answer = useQuery({
    queryKey: ['audit', position],
    queryFn: () => get<{ entries: AuditEntry[] }>(at('/api/audit', { limit: 300 })),
    placeholderData: (before) => before,
  });
  const entries = (answer.data?.entries ?? []).filter((entry) => !refused || REFUSED.test(entry.act));
  if (answer.error) return <Trouble text={saidPlainly(answer.error)} />;
  if (answer.data && !entries.length) return <Empty title={words.timeline.none} />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys
    <div className="table-scroll" tabIndex={0}>
      <table className="grid">
        <thead>
          <tr>
            <th scope="col">{words.timeline.when}</th>
            <th scope="col">{words.timeline.what}</th>
            <th scope="col" className="timeline__wide">
              {words.timeline.door}
            </th>
            <th scope="col" className="timeline__wide">
              #
            </th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <tr key={`${entry.chain}${entry.place}`}>
              <td className="small timeline__time">{fullTime(entry.at)}</td>
              <td>
                {REFUSED.test(entry.act) && <span aria-hidden="true">✕ </span>}
                {entry.sentence}
                {entry.count > 1 && <span className="chip">{entry.count}×</span>}
              </td>
              <td className="timeline__wide">{entry.door}</td>
              <td className="mono small timeline__wide" title={entry.hash}>
                {entry.hash.slice(0, 8)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

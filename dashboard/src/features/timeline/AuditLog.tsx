/** Who did what, through which door, and what was refused; newest first. */
import { useQuery } from '@tanstack/react-query';
import { at, errorText, get } from '@/api/client';
import type { AuditEntry } from '@/api/shapes';
import { useLive } from '@/live/hooks';
import { HubLine } from '@/parts/chat/HubLine';
import { Empty, ErrorNotice } from '@/parts/Page';
import { refusalText } from '@/parts/refusals';
import { fullTime } from '@/parts/time';
import { words } from '@/words';

const REFUSED = /refus|denied|held|block/;

export interface Wanted {
  refused: boolean;
  agent: string | null;
  /** How far back, in seconds; null for all of it. */
  back: number | null;
}

const PAGE = 300;
const MOST = 500;

function page({ agent, back, refused }: Wanted, limit: number, before: string | null) {
  const since = back === null ? null : new Date(Date.now() - back * 1000).toISOString();
  return get<{ entries: AuditEntry[] }>(
    at('/api/audit', { agent, since, before, acts: refused ? 'refused' : null, limit }),
  );
}

/** The newest entries that are wanted. */
const readLog = async (wanted: Wanted): Promise<AuditEntry[]> => (await page(wanted, PAGE, null)).entries;

/** All of them, newest first. Pages overlap by a moment: several things may have been done in it. */
export async function wholeLog(wanted: Wanted): Promise<AuditEntry[]> {
  const all = new Map<string, AuditEntry>();
  for (let before: string | null = null; ; ) {
    const { entries } = await page(wanted, MOST, before);
    const known = all.size;
    for (const entry of entries) all.set(`${entry.chain} ${entry.place}`, entry);
    const last = entries.at(-1)?.at;
    if (entries.length < MOST || all.size === known || !last) return [...all.values()];
    before = new Date(Date.parse(last) + 1).toISOString();
  }
}

/** A refusal in words; else the hub's sentence without its last words: the door has a column of its own. */
const said = (entry: AuditEntry): string =>
  entry.act === 'refused' ? refusalText(entry) : entry.sentence.replace(` by ${entry.door}`, '');

export function AuditLog({ wanted, onAll }: { wanted: Wanted; onAll: () => void }) {
  const position = useLive((live) => Math.floor(live.position / 5));
  const answer = useQuery({
    queryKey: ['audit', position, wanted],
    queryFn: () => readLog(wanted),
    placeholderData: (before) => before,
  });
  const entries = answer.data ?? [];
  if (answer.error) return <ErrorNotice text={errorText(answer.error)} />;
  if (answer.data && !entries.length)
    return (
      <Empty title={words.timeline.none}>
        {(wanted.back !== null || wanted.agent || wanted.refused) && (
          <button type="button" className="plain-button plain-button--line" onClick={onAll}>
            {words.timeline.showAll}
          </button>
        )}
      </Empty>
    );
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
                <HubLine text={said(entry)} />
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

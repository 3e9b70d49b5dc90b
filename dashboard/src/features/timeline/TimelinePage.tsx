/** Timeline: what happened in which order, who did what, and whether the record is whole. */

import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useSearchParams } from 'wouter';
import { at, errorText, get } from '@/api/client';
import type { AuditReport, Message, Turn } from '@/api/shapes';
import { useDerived, useLive } from '@/live/hooks';
import { download, lines } from '@/parts/download';
import { Choice, Select, Switch } from '@/parts/Fields';
import { ErrorNotice, Page } from '@/parts/Page';
import { useToast } from '@/parts/Toasts';
import { titleIn } from '@/parts/talks';
import { words } from '@/words';
import { AuditLog, type Wanted, wholeLog } from './AuditLog';
import { Flow } from './Flow';
import { Sequence } from './Sequence';
import './timeline.css';

const SHOWN = 100;

function Chain() {
  const answer = useQuery({
    queryKey: ['verify'],
    queryFn: () => get<AuditReport>('/api/audit/verify'),
    enabled: false,
  });
  const report = answer.data;
  return (
    <>
      {report && (
        <span className={report.ok ? 'chip timeline__ok' : 'chip timeline__broken'}>
          {report.ok
            ? words.timeline.chainOk(report.entries + report.messages)
            : words.timeline.chainBroken(report.problems.length)}
        </span>
      )}
      <button
        type="button"
        className="plain-button plain-button--line"
        onClick={() => void answer.refetch()}
        disabled={answer.isFetching}
      >
        {words.timeline.verify}
      </button>
    </>
  );
}

function useConversation(id: string | null) {
  const head = useLive((live) => (id ? (live.conversations[id]?.head ?? 0) : 0));
  return useQuery({
    queryKey: ['timeline', id, head],
    queryFn: async () => {
      const [messages, turns] = await Promise.all([
        get<{ messages: Message[] }>(
          at(`/api/conversations/${encodeURIComponent(id ?? '')}/messages`, {
            before: Number.MAX_SAFE_INTEGER,
            limit: SHOWN,
          }),
        ),
        get<{ turns: Turn[] }>(
          at('/api/turns', { conversation: id, before: Number.MAX_SAFE_INTEGER, limit: SHOWN * 3 }),
        ),
      ]);
      return { messages: messages.messages, turns: turns.turns };
    },
    enabled: id !== null,
    placeholderData: (before) => before,
  });
}

export default function TimelinePage() {
  const [search, setSearch] = useSearchParams();
  const owner = useLive((live) => live.owner);
  const places = useDerived(
    (live) => [live.conversations, live.tasks],
    (live) =>
      Object.values(live.conversations)
        .sort((a, b) => (b.updated_at ?? '').localeCompare(a.updated_at ?? ''))
        .map((one) => ({ value: one.id, label: titleIn(live, one.id) })),
  );
  const asked = search.get('conversation');
  const view = search.get('view') ?? (owner && !asked ? 'log' : 'sequence');
  const where = asked ?? places[0]?.value ?? null;
  const refused = search.get('refused') === '1';
  const agents = useDerived(
    (live) => [live.agents],
    (live) => Object.keys(live.agents),
  );
  const agent = search.get('agent');
  const back = search.get('back');
  const wanted: Wanted = useMemo(() => ({ refused, agent, back: back ? Number(back) : null }), [refused, agent, back]);
  const toast = useToast();
  const found = useConversation(view === 'log' ? null : where);
  const set = (changes: Record<string, string | null>) =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        for (const [key, value] of Object.entries(changes)) value ? next.set(key, value) : next.delete(key);
        return next;
      },
      { replace: true },
    );
  const save = async () => {
    try {
      const rows =
        view === 'log' ? await wholeLog(wanted) : [...(found.data?.messages ?? []), ...(found.data?.turns ?? [])];
      download(`moot-${view}.jsonl`, lines(rows));
    } catch (error) {
      toast(errorText(error), { bad: true });
    }
  };
  const { views } = words.timeline;
  const actions = (
    <>
      <Choice
        segments
        label={words.timeline.view}
        value={view}
        onChange={(next) => set({ view: next })}
        options={[
          { value: 'sequence', label: views.sequence },
          ...(owner ? [{ value: 'log', label: views.log }] : []),
          { value: 'flow', label: views.flow },
        ]}
      />
      {view !== 'log' && (
        <Select
          aria-label={words.timeline.where}
          data={places}
          value={where}
          onChange={(id) => set({ conversation: id })}
        />
      )}
      {view === 'log' && (
        <>
          <Select
            aria-label={words.timeline.back}
            value={back ?? ''}
            onChange={(value) => set({ back: value })}
            data={words.timeline.backs.map(([value, label]) => ({ value, label }))}
          />
          <Select
            aria-label={words.timeline.who}
            value={agent ?? ''}
            onChange={(value) => set({ agent: value })}
            data={[{ value: '', label: words.timeline.everybody }, ...agents]}
          />
          <Switch
            label={words.timeline.only}
            checked={refused}
            onChange={(checked) => set({ refused: checked ? '1' : null })}
          />
        </>
      )}
      <button type="button" className="plain-button plain-button--line" onClick={save}>
        {words.export}
      </button>
      {owner && <Chain />}
    </>
  );
  return (
    <Page title={words.timeline.title} actions={actions}>
      {found.error && <ErrorNotice text={errorText(found.error)} />}
      {view === 'log' && owner && (
        <AuditLog wanted={wanted} onAll={() => set({ refused: null, agent: null, back: null })} />
      )}
      {view === 'sequence' && found.data && <Sequence messages={found.data.messages} turns={found.data.turns} />}
      {view === 'flow' && found.data && <Flow messages={found.data.messages} turns={found.data.turns} />}
    </Page>
  );
}

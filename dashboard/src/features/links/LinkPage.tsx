/** The channel of a link: everything that passed, and what did not. */

import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useCallback, useEffect, useMemo, useState } from 'react';
import { Link as Anchor } from 'wouter';
import { at, call, errorText, get } from '@/api/client';
import type { AuditEntry, Link, Message, Turn } from '@/api/shapes';
import { useDerived, useLive, usePending, usePieces, useRefusal, useStore } from '@/live/hooks';
import { newKey } from '@/live/outbox';
import { headOf } from '@/live/state';
import { Bubble, Frame, ThinLine } from '@/parts/chat/Bubble';
import { HubLine } from '@/parts/chat/HubLine';
import { type Row, rowsOf, type Thin } from '@/parts/chat/rows';
import { drawPlain, Transcript } from '@/parts/chat/Transcript';
import { download, lines } from '@/parts/download';
import { Select, Switch } from '@/parts/Fields';
import { Markdown } from '@/parts/Markdown';
import { Empty, Page } from '@/parts/Page';
import { refusalText } from '@/parts/refusals';
import { useToast } from '@/parts/Toasts';
import { decoded } from '@/parts/talks';
import { words } from '@/words';
import { holdsOf } from './holds';
import './links.css';

const REFUSALS_MS = 4000;
const REFUSED = /refus|held|limit|block|denied/;
const NEWEST = Number.MAX_SAFE_INTEGER;

/** What was refused between the two, from the audit, as thin rows. */
function useRefusals(link: Link | undefined, on: boolean): Thin[] {
  const version = useLive((live) => (link ? (live.traffic[link.channel] ?? 0) : 0));
  const answer = useQuery({
    queryKey: ['refusals', link?.id, version],
    queryFn: () => get<{ entries: AuditEntry[] }>(at('/api/audit', { link: link?.id, limit: 200 })),
    enabled: on && link !== undefined,
    refetchInterval: REFUSALS_MS,
    placeholderData: (before) => before,
    retry: false,
  });
  return useMemo(
    () =>
      (answer.data?.entries ?? [])
        .filter((entry) => REFUSED.test(entry.act))
        .map((entry) => ({
          key: `a${entry.chain}${entry.place}`,
          at: entry.at ?? '',
          text: refusalText(entry),
          bad: true,
        })),
    [answer.data],
  );
}

/** What had to wait between the two: a second message within a few seconds is held before it is delivered. */
function useHolds(link: Link | undefined, on: boolean): Thin[] {
  const channel = link?.channel ?? '';
  const messages = useLive((live) => live.threads[channel]?.messages);
  const head = useLive((live) => headOf(live, channel));
  const waiting = useDerived(
    (live) => [live.turns],
    (live) =>
      Object.values(live.turns)
        .filter((turn) => turn.conversation === channel)
        .map((turn) => `${turn.id} ${turn.state}`)
        .join(),
  );
  const answer = useQuery({
    queryKey: ['holds', channel, head, waiting],
    queryFn: () => get<{ turns: Turn[] }>(at('/api/turns', { conversation: channel, before: NEWEST, limit: 500 })),
    enabled: on && channel !== '',
    placeholderData: (before) => before,
    retry: false,
  });
  return useMemo(() => holdsOf(messages ?? [], answer.data?.turns ?? []), [messages, answer.data]);
}

/** Which rows are shown: of whom, and whether they passed. */
export interface RowFilter {
  sender: string;
  state: string;
}

function passes(row: Row, { sender, state }: RowFilter): boolean {
  if (row.kind === 'message')
    return state !== 'refused' && (!sender || row.message.from === sender || row.message.kind === 'system');
  if (row.kind === 'thin') return state !== 'passed' && (!sender || row.thin.text.includes(sender));
  return true;
}

/** All of the channel, page by page, as it is stored. */
async function exported(link: Link): Promise<Message[]> {
  const path = `/api/links/${encodeURIComponent(link.id)}/messages`;
  const all: Message[] = [];
  for (;;) {
    const { messages } = await get<{ messages: Message[] }>(at(path, { after: all.at(-1)?.seq ?? 0, limit: 500 }));
    all.push(...messages);
    if (messages.length < 500) return all;
  }
}

/** A person speaks into the channel: both agents read it, marked as a person's. */
function PostAs({ link }: { link: Link }) {
  const store = useStore();
  const self = useLive((live) => live.self);
  const pending = usePending(link.channel);
  const refusal = useRefusal(link.channel);
  const [text, setText] = useState('');
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (!text.trim()) return;
    store.outbox.post({ key: newKey(), conversation: link.channel, text: text.trim(), at: new Date().toISOString() });
    setText('');
  };
  return (
    <form className="row link-channel__post" onSubmit={send}>
      <input
        className="field grow"
        value={text}
        onChange={(event) => setText(event.target.value)}
        aria-label={words.links.postAs(self)}
        placeholder={words.links.postAs(self)}
      />
      <button type="submit" className="plain-button plain-button--main" disabled={!text.trim()}>
        {words.chat.send}
      </button>
      {pending.length > 0 && <span className="muted small">{words.chat.sending}</span>}
      {refusal && (
        <span className="small link-channel__refused" role="alert">
          {words.chat.refused} {refusal.problem.title}
        </span>
      )}
    </form>
  );
}

function Channel({ link, as, thins, filter }: { link: Link; as: string; thins: Thin[]; filter: RowFilter }) {
  const store = useStore();
  const id = link.channel;
  const thread = useLive((live) => live.threads[id]);
  const head = useLive((live) => headOf(live, id));
  const self = useLive((live) => live.self);
  const seats = useLive((live) => live.conversations[id]?.participants);
  const agents = useLive((live) => live.agents);
  const pieces = usePieces(id);
  useEffect(() => void store.want(id), [store, id]);
  const rows = useMemo(
    () => rowsOf({ thread, pieces, thins }).filter((row) => passes(row, filter)),
    [thread, pieces, thins, filter],
  );
  const draw = useCallback(
    (row: Row) => {
      const marks = new Map((seats ?? []).map((seat) => [seat.name, seat.mark]));
      if (row.kind === 'message') {
        const { message } = row;
        if (message.kind === 'system' || message.kind === 'tool')
          return (
            <ThinLine>
              <HubLine text={message.text} />
            </ThinLine>
          );
        const look = message.kind === 'human' ? 'user' : message.from === as ? 'assistant' : 'agent';
        return (
          <Bubble
            message={message}
            look={look}
            own={message.from === self}
            mark={marks.get(message.from)}
            colour={agents[message.from]?.color}
            demo={agents[message.from]?.brain?.startsWith('demo') ?? false}
          />
        );
      }
      if (row.kind === 'piece')
        return (
          <Frame
            look="agent"
            own={false}
            name={row.piece.agent}
            mark={marks.get(row.piece.agent)}
            colour={agents[row.piece.agent]?.color}
            badges={<span className="chip">{words.chat.writing(row.piece.agent)}</span>}
          >
            <Markdown text={row.piece.text} />
          </Frame>
        );
      return drawPlain(row);
    },
    [seats, as, self, agents],
  );
  const acts = useMemo(() => ({ key: () => false, bar: () => null }), []);
  const older = useCallback(() => void store.older(id).catch(() => {}), [store, id]);
  if (!thread) return <div className="shell__loading">{words.loading}</div>;
  if (rows.length <= 1)
    return (
      <div className="grow">
        <Empty title={thread.messages.length ? words.links.noneFound : words.links.empty}>
          {thread.messages.length === 0 && <p>{words.links.emptyText}</p>}
        </Empty>
      </div>
    );
  return <Transcript id={id} rows={rows} head={head} whole={thread.whole} draw={draw} acts={acts} onOlder={older} />;
}

export default function LinkPage({ params }: { params: Record<string, string | undefined> }) {
  const toast = useToast();
  const id = decoded(params.id ?? '');
  const link = useLive((live) => live.links[id]);
  const owner = useLive((live) => live.owner);
  const count = useLive((live) => (link ? headOf(live, link.channel) : 0));
  const [as, setAs] = useState('');
  const [refused, setRefused] = useState(true);
  const [filter, setFilter] = useState<RowFilter>({ sender: '', state: '' });
  const refusals = useRefusals(link, refused && owner);
  const held = useHolds(link, refused);
  const thins = useMemo(() => [...refusals, ...held], [refusals, held]);
  if (!link)
    return (
      <Empty title={words.links.gone}>
        <Anchor href="/topology">{words.links.back}</Anchor>
      </Empty>
    );
  const enable = async () => {
    try {
      await call('PUT', `/api/links/${encodeURIComponent(id)}`, { enabled: true });
    } catch (error) {
      toast(errorText(error), { bad: true });
    }
  };
  const save = async () => {
    try {
      download(`${link.from}-${link.to}.jsonl`, lines(await exported(link)));
    } catch (error) {
      toast(errorText(error), { bad: true });
    }
  };
  const title = (
    <span>
      <Anchor className="small" href={`/topology?edge=${encodeURIComponent(id)}`}>
        ‹ {words.links.back}
      </Anchor>{' '}
      {words.links.title(link.from, link.to)}
    </span>
  );
  const actions = (
    <>
      <Select
        aria-label={words.links.viewAs}
        value={as}
        onChange={(value) => setAs(value ?? '')}
        data={[
          { value: '', label: `${words.links.viewAs}: ${words.links.neutral}` },
          ...[link.from, link.to].map((name) => ({ value: name, label: `${words.links.viewAs}: ${name}` })),
        ]}
      />
      <Select
        aria-label={words.links.sender}
        value={filter.sender}
        onChange={(value) => setFilter({ ...filter, sender: value ?? '' })}
        data={[
          { value: '', label: `${words.links.sender}: ${words.timeline.all}` },
          ...[link.from, link.to].map((name) => ({ value: name, label: `${words.links.sender}: ${name}` })),
        ]}
      />
      {owner && (
        <Select
          aria-label={words.links.state}
          value={filter.state}
          onChange={(value) => setFilter({ ...filter, state: value ?? '' })}
          data={[
            { value: '', label: `${words.links.state}: ${words.timeline.all}` },
            { value: 'passed', label: `${words.links.state}: ${words.links.states.passed}` },
            { value: 'refused', label: `${words.links.state}: ${words.links.states.refused}` },
          ]}
        />
      )}
      <button type="button" className="plain-button plain-button--line" onClick={save}>
        {words.export}
      </button>
      {owner && (
        <Switch label={words.links.refusedAndHeld} checked={refused} onChange={(checked) => setRefused(checked)} />
      )}
    </>
  );
  return (
    <Page title={title} actions={actions} bare>
      <div className="link-channel">
        <p className="link-channel__sentence muted small">
          {link.sentence} {words.links.count(count)}.
        </p>
        {!link.enabled && (
          <div className="notice link-channel__off">
            {words.links.off}
            <button type="button" className="plain-button plain-button--line" onClick={enable}>
              {words.links.enable}
            </button>
          </div>
        )}
        <Channel link={link} as={as} thins={refused ? thins : []} filter={filter} />
        {link.enabled && owner && <PostAs link={link} />}
      </div>
    </Page>
  );
}

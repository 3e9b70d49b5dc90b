/** Now: what needs you, who works, what was done. Everything can be acted on in place. */
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { call, errorText } from '@/api/client';
import { useDerived, useLine, useLive } from '@/live/hooks';
import { isAgent } from '@/live/state';
import { activityWords } from '@/parts/activity';
import { Mark } from '@/parts/Mark';
import { keyOf, type NowRow, needing, useNowAnswer } from '@/parts/now';
import { Empty, Page } from '@/parts/Page';
import { useToast } from '@/parts/Toasts';
import { hrefOf, newestOf, useTitle } from '@/parts/talks';
import { ago } from '@/parts/time';
import { useNow } from '@/parts/useNow';
import { isBusy } from '@/theme/agents';
import { words } from '@/words';
import './now.css';
import { LastHour } from './LastHour';
import { NeedRow } from './NeedRow';
import { Peek } from './Peek';

/** The hub answers with those of a day. */
const HOUR_MS = 3_600_000;

function useActs() {
  const toast = useToast();
  return async (path: string, body?: unknown) => {
    try {
      await call('POST', path, body);
    } catch (error) {
      toast(errorText(error), { bad: true });
    }
  };
}

const SHOWN_DONE = 12;

const Title = ({ id }: { id: string }) => useTitle(id);

function Working({ onPeek }: { onPeek: (id: string) => void }) {
  const act = useActs();
  const turns = useDerived(
    (live) => [live.turns],
    (live) => Object.values(live.turns).filter((turn) => turn.state === 'running'),
  );
  const agents = useLive((live) => live.agents);
  const now = useNow(turns.length ? 1000 : null);
  if (!turns.length) return null;
  return (
    <section className="card stack" aria-label={words.now.working(turns.length)}>
      <h2>{words.now.working(turns.length)}</h2>
      {turns.map((turn) => (
        <div key={turn.id} className="now-row">
          <Mark name={turn.agent} colour={agents[turn.agent]?.color} filled />
          <strong>{turn.agent}</strong>
          <span className="muted">{activityWords(agents[turn.agent], now)}</span>
          <Link href={hrefOf(turn.conversation)} className="grow cut">
            <Title id={turn.conversation} />
          </Link>
          <button type="button" className="plain-button plain-button--line" onClick={() => onPeek(turn.conversation)}>
            {words.now.peek}
          </button>
          <button
            type="button"
            className="plain-button plain-button--line"
            onClick={() =>
              act(`/api/conversations/${encodeURIComponent(turn.conversation)}/stop`, { agent: turn.agent })
            }
          >
            {words.now.stop}
          </button>
        </div>
      ))}
    </section>
  );
}

function Done({ ended }: { ended: NowRow[] }) {
  const now = useNow(30_000);
  const rows = ended.filter((row) => now - Date.parse(row.at || row.since || '') < HOUR_MS);
  const agents = useLive((live) => live.agents);
  if (!rows.length) return null;
  return (
    <section className="card stack">
      <h2>{words.now.done(rows.length)}</h2>
      <div className="now-done">
        {rows.slice(0, SHOWN_DONE).map((row) => (
          <Link
            key={`${row.turn}${row.agent}${row.at}`}
            href={row.conversation_id ? hrefOf(row.conversation_id) : '/c'}
            className="chip now-done__chip"
          >
            <Mark name={row.agent} colour={agents[row.agent]?.color} />
            {row.agent} {ago(row.at || row.since, now)}
          </Link>
        ))}
        {rows.length > SHOWN_DONE && (
          <Link href="/timeline" className="chip now-done__chip">
            {words.now.moreDone(rows.length - SHOWN_DONE)}
          </Link>
        )}
      </div>
    </section>
  );
}

function Started() {
  const steps = useDerived(
    (live) => [live.conversations, live.links, live.agents],
    (live) => ({
      send: Object.values(live.conversations).some((one) => one.kind !== 'link' && ((one.head ?? 0) > 0 || one.last)),
      link: Object.keys(live.links).length > 0,
      connect: Object.values(live.agents).some((agent) => agent.kind === 'external'),
    }),
  );
  if (steps.send && steps.link && steps.connect) return null;
  const to: Record<string, string> = { send: '/c?new', link: '/topology', connect: '/settings/clis' };
  return (
    <section className="card stack">
      <h2>{words.now.started}</h2>
      <ul className="now-steps">
        {(['send', 'link', 'connect'] as const).map((step) => (
          <li key={step}>
            <span aria-hidden="true">{steps[step] ? '☑' : '☐'}</span>{' '}
            {steps[step] ? <s>{words.now.steps[step]}</s> : <Link href={to[step] ?? '/'}>{words.now.steps[step]}</Link>}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Head() {
  const line = useLine();
  const demo = useDerived(
    (live) => [live.agents],
    (live) =>
      Object.values(live.agents).filter((agent) => isAgent(agent.kind) && agent.brain?.startsWith('demo')).length,
  );
  return (
    <>
      {demo > 0 && (
        <span className="chip" title={words.now.demoWhy}>
          {words.now.demo(demo)}
        </span>
      )}
      <span className="chip">
        <span aria-hidden="true">●</span> {line.lostAt === null ? words.line.live : words.line.lostShort}
      </span>
      <Link href="/decisions" className="plain-button plain-button--line">
        {words.now.decisions}
      </Link>
      <Link href="/c?new" className="plain-button plain-button--main">
        {words.now.newConversation}
      </Link>
    </>
  );
}

export default function NowPage() {
  const answer = useNowAnswer();
  const [, go] = useLocation();
  const act = useActs();
  const [peek, setPeek] = useState<string | null>(null);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const busy = useDerived(
    (live) => [live.turns, live.agents],
    (live) =>
      Object.values(live.turns).some((turn) => turn.state === 'running') ||
      Object.values(live.agents).some((agent) => isBusy(agent.activity.state)),
  );
  const last = useDerived(
    (live) => [live.conversations],
    (live) => newestOf(Object.values(live.conversations)),
  );
  const demo = useDerived(
    (live) => [live.agents],
    (live) => Object.values(live.agents).some((agent) => agent.brain?.startsWith('demo')),
  );
  const now = useNow(30_000);
  const rows = [...needing(answer), ...(answer?.needs_you ?? []).filter((row) => row.what === 'unread')].filter(
    (row) => !hidden.has(keyOf(row)),
  );
  return (
    <Page title={words.now.title} actions={<Head />} bare>
      <div className="now">
        {rows.length > 0 && (
          <section className="card stack" aria-label={words.now.needsYou(rows.length)} data-testid="needs-you">
            <h2>{words.now.needsYou(rows.length)}</h2>
            {rows.map((row) => (
              <NeedRow
                key={keyOf(row)}
                row={row}
                act={act}
                onOpen={(id) => go(hrefOf(id))}
                onHide={() => setHidden(new Set([...hidden, keyOf(row)]))}
              />
            ))}
          </section>
        )}
        <Working onPeek={setPeek} />
        {rows.length === 0 && !busy && (
          <Empty title={words.now.quiet}>
            <p>{words.now.quietText(ago(last?.last?.at, now))}</p>
            {last && (
              <Link href={hrefOf(last.id)} className="plain-button plain-button--line">
                {words.now.open} <Title id={last.id} />
              </Link>
            )}
          </Empty>
        )}
        <Done ended={answer?.done ?? []} />
        <LastHour demo={demo} />
        <Started />
      </div>
      {peek && <Peek id={peek} onClose={() => setPeek(null)} />}
    </Page>
  );
}

/** One agent: what it does, who it is, what waits for it, how close it is to its limits, what it logged. */
import { Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearchParams } from 'wouter';
import { at, errorText, get } from '@/api/client';
import type { Agent, BrakeReport, Conversation, Message } from '@/api/shapes';
import { useDerived, useLive } from '@/live/hooks';
import { activityWords } from '@/parts/activity';
import { Mark, Name } from '@/parts/Mark';
import { Meter } from '@/parts/Meter';
import { Empty, ErrorNotice, Page } from '@/parts/Page';
import { decoded, hrefOf, titleOf } from '@/parts/talks';
import { fullTime } from '@/parts/time';
import { useNow } from '@/parts/useNow';
import { words } from '@/words';
import './agents.css';
import { AgentActs } from './AgentActs';
import { folderOf } from './folder';
import { Identity } from './Identity';

function useAnswer<T>(key: string, path: string, enabled = true) {
  return useQuery({ queryKey: ['agent', key, path], queryFn: () => get<T>(path), enabled, staleTime: 0, retry: false });
}

function Overview({ agent }: { agent: Agent }) {
  const self = useLive((live) => live.self);
  const links = useDerived(
    (live) => [live.links],
    (live) => Object.values(live.links).filter((link) => link.from === agent.name || link.to === agent.name),
  );
  const answer = useAnswer<{ conversations: Conversation[] }>(
    'conversations',
    `/api/agents/${encodeURIComponent(agent.name)}/conversations`,
  );
  return (
    <div className="stack agents__overview">
      <dl className="agents__facts">
        <dt>{words.agents.role}</dt>
        <dd>{agent.role || '—'}</dd>
        <dt>{words.agents.columns.brain}</dt>
        <dd>{agent.brain || agent.kind}</dd>
        <dt>{words.agents.columns.reach}</dt>
        <dd>{agent.reachability}</dd>
        <dt>{words.agents.columns.folder}</dt>
        <dd className="mono">{folderOf(agent.project)}</dd>
        {agent.aliases.length > 0 && (
          <>
            <dt>{words.agents.aliases}</dt>
            <dd>{agent.aliases.join(', ')}</dd>
          </>
        )}
      </dl>
      <section>
        <h2 className="label">{words.agents.links}</h2>
        {links.map((link) => (
          <div key={link.id}>
            <Link href={`/topology?edge=${encodeURIComponent(link.id)}`}>{link.sentence}</Link>
          </div>
        ))}
        {links.length === 0 && <p className="muted">{words.agents.noLinks}</p>}
      </section>
      <section>
        <h2 className="label">{words.agents.conversations}</h2>
        {(answer.data?.conversations ?? []).map((one) => (
          <div key={one.id}>
            <Link href={hrefOf(one.id)}>{titleOf(one, self)}</Link>
          </div>
        ))}
        {answer.data?.conversations.length === 0 && <p className="muted">{words.agents.noConversations}</p>}
        {answer.error && <p className="muted">{errorText(answer.error)}</p>}
      </section>
    </div>
  );
}

function Inbox({ name }: { name: string }) {
  const answer = useAnswer<{ messages: Message[] }>('inbox', `/api/agents/${encodeURIComponent(name)}/inbox`);
  const messages = answer.data?.messages ?? [];
  if (answer.error) return <ErrorNotice text={errorText(answer.error)} />;
  if (!messages.length) return <p className="muted">{words.agents.noInbox}</p>;
  return (
    <div className="stack">
      {messages.map((message) => (
        <div key={message.id} className="card">
          <Name name={message.from} /> <span className="muted small">{fullTime(message.at)}</span>
          <div>{message.text}</div>
        </div>
      ))}
    </div>
  );
}

function Limits({ name }: { name: string }) {
  const answer = useAnswer<BrakeReport>('limits', '/api/limits');
  const own = answer.data?.agents.find((row) => row.agent === name);
  if (!own) return null;
  return (
    <div className="stack">
      <Meter label={words.agents.hour.turns} used={own.turns} max={own.max_turns} />
      <Meter label={words.agents.hour.chains} used={own.chains} max={own.max_chains} />
    </div>
  );
}

function Logs({ name }: { name: string }) {
  const answer = useAnswer<{ lines: string[]; path: string }>('logs', at('/api/logs', { agent: name, lines: 200 }));
  if (answer.error) return <p className="muted">{errorText(answer.error)}</p>;
  const lines = answer.data?.lines ?? [];
  if (!lines.length) return <p className="muted">{words.agents.noLogs}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys
    <pre className="agents__log" tabIndex={0}>
      {lines.join('\n')}
    </pre>
  );
}

export default function AgentPage({ params }: { params: Record<string, string | undefined> }) {
  const name = decoded(params.name ?? '');
  const agent = useLive((live) => live.agents[name]);
  const owner = useLive((live) => live.owner);
  const [search, setSearch] = useSearchParams();
  const now = useNow(1000);
  if (!agent)
    return (
      <Empty title={words.agents.gone(name)}>
        <Link href="/agents">{words.agents.all}</Link>
      </Empty>
    );
  const { tabs } = words.agents;
  const title = (
    <span className="row">
      <Mark name={name} colour={agent.color} state={agent.activity.state} /> {name}{' '}
      <span className="muted small">{activityWords(agent, now)}</span>
    </span>
  );
  return (
    <Page title={title} actions={<AgentActs agent={agent} owner={owner} />}>
      <Tabs
        value={search.get('tab') ?? 'overview'}
        onChange={(tab) => setSearch(tab && tab !== 'overview' ? { tab } : {}, { replace: true })}
        keepMounted={false}
      >
        <Tabs.List>
          {Object.entries(tabs).map(([tab, label]) => (
            <Tabs.Tab key={tab} value={tab}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <div className="agents__tab">
          <Tabs.Panel value="overview">
            <Overview agent={agent} />
          </Tabs.Panel>
          <Tabs.Panel value="identity">
            <Identity name={name} />
          </Tabs.Panel>
          <Tabs.Panel value="inbox">
            <Inbox name={name} />
          </Tabs.Panel>
          <Tabs.Panel value="limits">
            <Limits name={name} />
          </Tabs.Panel>
          <Tabs.Panel value="logs">
            <Logs name={name} />
          </Tabs.Panel>
        </div>
      </Tabs>
    </Page>
  );
}

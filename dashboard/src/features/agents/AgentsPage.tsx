/** All agents: what they do, how they are reached, what they think with. */
import { useMemo, useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { Agent } from '@/api/shapes';
import { useDerived, useLive } from '@/live/hooks';
import { isAgent } from '@/live/state';
import { activityWords } from '@/parts/activity';
import { Command } from '@/parts/Command';
import { Mark, Name } from '@/parts/Mark';
import { NewAgent } from '@/parts/NewAgent';
import { Empty, Page } from '@/parts/Page';
import { useNow } from '@/parts/useNow';
import { words } from '@/words';
import { AgentActs } from './AgentActs';
import { folderOf } from './folder';
import { Spawned } from './Spawned';
import './agents.css';

function Row({ agent, now, owner }: { agent: Agent; now: number; owner: boolean }) {
  return (
    <tr>
      <td>
        <Link href={`/agents/${encodeURIComponent(agent.name)}`} className="row agents__name">
          <Mark name={agent.name} colour={agent.color} state={agent.activity.state} />
          <Name name={agent.name} colour={agent.color} />
        </Link>
        <div className="muted small agents__role">{agent.role}</div>
      </td>
      <td data-testid={`status-${agent.name}`}>
        <span className="agents__status" title={activityWords(agent, now)}>
          {activityWords(agent, now)}
        </span>
      </td>
      <td>{agent.reachability}</td>
      <td>
        {agent.brain?.startsWith('demo') ? <span className="chip">{agent.brain}</span> : agent.brain || agent.kind}
      </td>
      <td className="mono small">{folderOf(agent.project)}</td>
      <td>{agent.queue}</td>
      <td>
        <AgentActs agent={agent} owner={owner} />
      </td>
    </tr>
  );
}

export default function AgentsPage() {
  const [filter, setFilter] = useState('');
  const [making, setMaking] = useState(false);
  const [, go] = useLocation();
  const owner = useLive((live) => live.owner);
  const agents = useDerived(
    (live) => [live.agents],
    (live) => Object.values(live.agents).filter((agent) => isAgent(agent.kind)),
  );
  const now = useNow(1000);
  const wanted = filter.trim().toLowerCase();
  const shown = useMemo(
    () =>
      agents.filter(
        (agent) =>
          !wanted ||
          `${agent.name} ${agent.role} ${agent.brain} ${agent.kind} ${agent.reachability} ${agent.activity.state}`
            .toLowerCase()
            .includes(wanted),
      ),
    [agents, wanted],
  );
  const { columns } = words.agents;
  return (
    <Page
      title={words.agents.title}
      actions={
        <>
          <input
            className="field agents__filter"
            type="search"
            aria-label={words.agents.filter}
            placeholder={words.agents.filter}
            value={filter}
            onChange={(event) => setFilter(event.target.value)}
          />
          {owner && (
            <button type="button" className="plain-button plain-button--main" onClick={() => setMaking(true)}>
              {words.newAgent.title}
            </button>
          )}
        </>
      }
    >
      {agents.length === 0 ? (
        <Empty title={words.agents.none}>
          <Command text={words.topology.noneCommand} />
        </Empty>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys
        <div className="table-scroll" tabIndex={0}>
          <table className="grid grid--cards agents__table">
            <thead>
              <tr>
                {Object.values(columns).map((column) => (
                  <th key={column} scope="col">
                    {column}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {shown.map((agent) => (
                <Row key={agent.name} agent={agent} now={now} owner={owner} />
              ))}
            </tbody>
          </table>
          {shown.length === 0 && <p className="muted">{words.agents.noneFound}</p>}
        </div>
      )}
      {owner && <Spawned />}
      {making && (
        <NewAgent onClose={() => setMaking(false)} onMade={(name) => go(`/agents/${encodeURIComponent(name)}`)} />
      )}
    </Page>
  );
}

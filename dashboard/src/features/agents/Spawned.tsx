/** Agents that agents started, under whoever started them. */
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { get } from '@/api/client';
import { useLive } from '@/live/hooks';
import { Mark, Name } from '@/parts/Mark';
import { clockTime } from '@/parts/time';
import { words } from '@/words';

interface Born {
  agent: string;
  template: string;
  by: string;
  project: string;
  until: string | null;
  ended_at: string | null;
  ending: string | null;
}

function Branch({ of, all }: { of: string; all: Born[] }) {
  const agents = useLive((live) => live.agents);
  const own = all.filter((one) => one.by === of);
  if (!own.length) return null;
  return (
    <ul className="agents__branch">
      {own.map((one) => (
        <li key={one.agent}>
          <span className="row row--wrap">
            <Link href={`/agents/${encodeURIComponent(one.agent)}`} className="row">
              <Mark name={one.agent} colour={agents[one.agent]?.color} state={agents[one.agent]?.activity.state} />
              <Name name={one.agent} colour={agents[one.agent]?.color} />
            </Link>
            <span className="chip">{one.template}</span>
            {one.project && <code className="small">{one.project}</code>}
            <span className="muted small">
              {one.ended_at
                ? words.agents.retired(clockTime(one.ended_at), one.ending ?? '')
                : one.until && words.agents.staysUntil(clockTime(one.until))}
            </span>
          </span>
          <Branch of={one.agent} all={all} />
        </li>
      ))}
    </ul>
  );
}

export function Spawned() {
  const count = useLive((live) => Object.keys(live.agents).length);
  const answer = useQuery({
    queryKey: ['spawned', count],
    queryFn: () => get<{ spawned: Born[] }>('/api/spawned'),
    retry: false,
    placeholderData: (before) => before,
  });
  const all = answer.data?.spawned ?? [];
  if (!all.length) return null;
  const born = new Set(all.map((one) => one.agent));
  const roots = [...new Set(all.map((one) => one.by))].filter((name) => !born.has(name));
  return (
    <section className="agents__tree" data-testid="spawned">
      <h2 className="label">{words.agents.spawned}</h2>
      {roots.map((root) => (
        <div key={root}>
          <span className="row">
            <Mark name={root} /> <Name name={root} />
          </span>
          <Branch of={root} all={all} />
        </div>
      ))}
    </section>
  );
}

/** What turns have cost, and what they may cost. */
import { useQuery } from '@tanstack/react-query';
import { get } from '@/api/client';
import { words } from '@/words';

interface Usage {
  turns: number;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number | null;
}

const KEYS = ['day_budget_usd', 'day_budget_tokens', 'chain_budget_usd', 'chain_budget_tokens'] as const;

export function Budgets({ settings }: { settings: Record<string, number> }) {
  const answer = useQuery({ queryKey: ['usage'], queryFn: () => get<Usage>('/api/usage'), refetchInterval: 10_000 });
  const spent = answer.data;
  const { budgets } = words.limits;
  return (
    <section className="card stack">
      <h2>{budgets.title}</h2>
      {spent && <p>{budgets.spent(spent.turns, spent.input_tokens + spent.output_tokens, spent.cost_usd)}</p>}
      <dl className="limits__budgets">
        {KEYS.map((key) => (
          <div key={key} className="row">
            <dt className="grow">{budgets.keys[key]}</dt>
            <dd>{settings[key] ? budgets.most(key.endsWith('usd'), settings[key] ?? 0) : budgets.none}</dd>
          </div>
        ))}
      </dl>
      <p className="muted small">{budgets.text}</p>
    </section>
  );
}

/** Why somebody spoke, and why everybody else did or did not. The words are the hub's. */
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { errorText, get } from '@/api/client';
import type { Message, Turn, Why } from '@/api/shapes';
import { Mark } from '@/parts/Mark';
import { Markdown } from '@/parts/Markdown';
import { ErrorNotice } from '@/parts/Page';
import { SidePanel } from '@/parts/SidePanel';
import { hrefOf } from '@/parts/talks';
import { words } from '@/words';

interface Explained {
  why: Why;
  message: Message;
  cause: Message | null;
  turn: Turn | null;
}

async function explain(id: string): Promise<Explained> {
  const [why, message] = await Promise.all([
    get<Why>(`/api/messages/${encodeURIComponent(id)}/why`),
    get<Message>(`/api/messages/${encodeURIComponent(id)}`),
  ]);
  const cause = why.cause as { message?: string | null; turn?: string | null } | null;
  const [from, turn] = await Promise.all([
    cause?.message ? get<Message>(`/api/messages/${encodeURIComponent(cause.message)}`).catch(() => null) : null,
    cause?.turn ? get<Turn>(`/api/turns/${encodeURIComponent(cause.turn)}`).catch(() => null) : null,
  ]);
  return { why, message, cause: from, turn };
}

function TurnFacts({ turn }: { turn: Turn }) {
  const seconds =
    turn.started_at && turn.ended_at ? (Date.parse(turn.ended_at) - Date.parse(turn.started_at)) / 1000 : null;
  const usage = turn.usage as { input_tokens?: number; output_tokens?: number; model?: string } | null;
  return (
    <>
      <dt>{words.why.saw}</dt>
      <dd>{words.why.sawText(Math.max(1, turn.lo), turn.hi)}</dd>
      <dt>{words.why.cost}</dt>
      <dd>
        {seconds !== null && words.why.took(`${seconds.toFixed(1)} s`)}
        {usage && `, ${words.why.tokens(usage.input_tokens ?? 0, usage.output_tokens ?? 0)}`}
      </dd>
    </>
  );
}

const MAX_STEPS = 8;

/** From the words that began it to the message, each the answer to the one before. */
async function pathOf(message: Message, why: Why): Promise<Message[]> {
  const path = [message];
  let cause = why.cause as { message?: string | null } | null;
  while (cause?.message && path.length < MAX_STEPS) {
    const id = encodeURIComponent(cause.message);
    const [before, whyBefore] = await Promise.all([
      get<Message>(`/api/messages/${id}`),
      get<Why>(`/api/messages/${id}/why`),
    ]);
    path.unshift(before);
    cause = whyBefore.cause as typeof cause;
  }
  return path;
}

function Path({ from, why }: { from: Message; why: Why }) {
  const { data = [] } = useQuery({
    queryKey: ['path', from.id],
    queryFn: () => pathOf(from, why).catch(() => []),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (data.length < 2) return null;
  return (
    <>
      <dt>{words.why.path}</dt>
      <dd>
        {data.map((message, place) => (
          <span key={message.id}>
            {place > 0 && ' → '}
            <Link href={hrefOf(message.conversation, message.seq)}>
              {message.from} #{message.seq}
            </Link>
          </span>
        ))}
      </dd>
    </>
  );
}

export function WhyPanel({ id, message, onClose }: { id: string; message: string; onClose: () => void }) {
  const answer = useQuery({
    queryKey: ['why', message],
    queryFn: () => explain(message),
    staleTime: 0,
    refetchInterval: 2000,
  });
  const found = answer.data;
  return (
    <SidePanel title={words.why.title} onClose={onClose}>
      {answer.error && <ErrorNotice text={errorText(answer.error)} />}
      {!found && !answer.error && <p className="muted">{words.loading}</p>}
      {found && (
        <>
          <blockquote className="why__quote">
            <strong>{found.message.from}</strong> <span className="muted">#{found.message.seq}</span>
            <Markdown
              text={found.message.text.length > 160 ? `${found.message.text.slice(0, 160)}…` : found.message.text}
            />
          </blockquote>
          <dl className="why">
            <dt>{words.why.spoke(found.message.from)}</dt>
            <dd>
              {found.cause ? (
                <>
                  {words.why.cause}{' '}
                  <Link href={hrefOf(found.cause.conversation, found.cause.seq)}>
                    {found.cause.from} #{found.cause.seq}
                  </Link>
                  {found.turn && ` (${words.why.called(found.turn.reason, found.turn.duty)})`}
                </>
              ) : (
                words.why.nothing
              )}
            </dd>
            {found.turn && <TurnFacts turn={found.turn} />}
            <Path from={found.message} why={found.why} />
          </dl>
          <ul className="why__agents" data-testid="why">
            {found.why.agents.map((row) => (
              <li key={row.agent} data-agent={row.agent} data-state={row.state} data-rule={row.rule}>
                <Mark name={row.agent} filled />
                <span className="grow">
                  <span>{row.reason}</span>
                  {row.rule !== 'self' && (
                    <>
                      <br />
                      <span className="muted small">{words.why.states[row.state] ?? row.state}</span>
                    </>
                  )}
                </span>
              </li>
            ))}
          </ul>
          <div className="row row--wrap">
            <Link className="plain-button plain-button--line" href={`/timeline?conversation=${encodeURIComponent(id)}`}>
              {words.why.timeline}
            </Link>
            <button
              type="button"
              className="plain-button plain-button--line"
              onClick={() => navigator.clipboard?.writeText(JSON.stringify(found.why, null, 2))}
            >
              {words.why.copyJson}
            </button>
          </div>
        </>
      )}
    </SidePanel>
  );
}

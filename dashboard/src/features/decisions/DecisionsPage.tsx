/** What agents asked people: what was answered, what was denied, what still waits. Each was good for one action, once. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { call, errorText, get } from '@/api/client';
import type { Decision } from '@/api/shapes';
import { useLive } from '@/live/hooks';
import { Choice } from '@/parts/Fields';
import { Mark, Name } from '@/parts/Mark';
import { nextEnd } from '@/parts/now';
import { Empty, ErrorNotice, Page } from '@/parts/Page';
import { useToast } from '@/parts/Toasts';
import { hrefOf } from '@/parts/talks';
import { fullTime } from '@/parts/time';
import { words } from '@/words';
import './decisions.css';

const DENY = 'deny';

type Which = 'all' | 'denied' | 'open';

/** Denied, or never answered while it could be: either way it was not done. */
const wasDenied = (one: Decision): boolean =>
  one.answer === DENY || (one.state === 'expired' && one.choices.includes(DENY));

const picked = (one: Decision, which: Which): boolean =>
  which === 'all' || (which === 'open' ? one.state === 'open' : wasDenied(one));

/** `conversation:seq` leads to the message that asked. */
function placeOf(message: string): string {
  const cut = message.lastIndexOf(':');
  return hrefOf(message.slice(0, cut), Number(message.slice(cut + 1)));
}

function Row({ one, self }: { one: Decision; self: string }) {
  const toast = useToast();
  const agent = useLive((live) => live.agents[one.by]);
  const answer = async (choice: string) => {
    try {
      await call('POST', `/api/decisions/${encodeURIComponent(one.id)}`, { answer: choice });
    } catch (error) {
      toast(errorText(error), { bad: true });
    }
  };
  return (
    <article className="card stack decision" data-state={one.state} data-denied={wasDenied(one)}>
      <div className="row row--wrap">
        <Mark name={one.by} colour={agent?.color} filled />
        <Name name={one.by} colour={agent?.color} />
        <span aria-hidden="true">→</span> {one.to}
        <span className="grow" />
        <time className="muted small" dateTime={one.created_at ?? undefined}>
          {fullTime(one.created_at)}
        </time>
      </div>
      <p className="decision__question">{one.question}</p>
      <div className="row row--wrap">
        <span className={wasDenied(one) ? 'chip decision__denied' : 'chip'}>
          {one.answer ? words.decisions.answered(one.answer) : (words.decisions.states[one.state] ?? one.state)}
        </span>
        {one.state === 'open' &&
          one.to === self &&
          one.choices.map((choice) => (
            <button
              key={choice}
              type="button"
              className="plain-button plain-button--line"
              onClick={() => answer(choice)}
            >
              {choice}
            </button>
          ))}
        <span className="grow" />
        <Link className="small" href={placeOf(one.message)}>
          {words.decisions.where}
        </Link>
      </div>
    </article>
  );
}

export default function DecisionsPage() {
  const self = useLive((live) => live.self);
  const changes = useLive((live) => live.decisions);
  const [which, setWhich] = useState<Which>('all');
  const answer = useQuery({
    queryKey: ['decisions', changes],
    queryFn: () => get<{ decisions: Decision[] }>('/api/decisions?limit=200'),
    placeholderData: (before) => before,
    refetchInterval: ({ state }) => nextEnd(state.data?.decisions ?? [], Date.now()),
    retry: false,
  });
  const shown = (answer.data?.decisions ?? []).filter((one) => picked(one, which)).toReversed();
  const { decisions } = words;
  const options = (['all', 'denied', 'open'] as const).map((value) => ({ value, label: decisions.filters[value] }));
  return (
    <Page
      title={decisions.title}
      actions={
        <Choice
          segments
          label={decisions.filter}
          value={which}
          onChange={(value) => setWhich(value as Which)}
          options={options}
        />
      }
    >
      {answer.error && <ErrorNotice text={errorText(answer.error)} />}
      {answer.data && shown.length === 0 && (
        <Empty title={decisions.none}>
          <p>{decisions.noneText}</p>
        </Empty>
      )}
      <div className="stack decisions">
        {shown.map((one) => (
          <Row key={one.id} one={one} self={self} />
        ))}
      </div>
    </Page>
  );
}

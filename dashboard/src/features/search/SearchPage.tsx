/** Search in everything one may see, with the operators of the command line. */
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useEffect, useMemo, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { at, errorText, get } from '@/api/client';
import type { Hits } from '@/api/shapes';
import { Command } from '@/parts/Command';
import { Mark, Name } from '@/parts/Mark';
import { Empty, ErrorNotice, Page } from '@/parts/Page';
import { hrefOf, useTitle } from '@/parts/talks';
import { fullTime } from '@/parts/time';
import { words } from '@/words';
import { marked, pillsOf, withoutPill } from './query';
import './search.css';

type Hit = Hits['hits'][number];

function Snippet({ text, query }: { text: string; query: string }) {
  return (
    <span>
      {marked(text, query).map((part, index) =>
        // biome-ignore lint/suspicious/noArrayIndexKey: parts are their place
        part.hit ? <mark key={index}>{part.text}</mark> : <span key={index}>{part.text}</span>,
      )}
    </span>
  );
}

function Group({ id, hits, query }: { id: string; hits: Hit[]; query: string }) {
  const name = useTitle(id);
  return (
    <section className="card stack search__group">
      <h2>
        {name} <span className="muted small">{words.search.hits(hits.length)}</span>
      </h2>
      {hits.map(({ message, snippet }) => (
        <Link key={message.id} className="search__hit" href={hrefOf(id, message.seq)}>
          <span className="row">
            <Mark name={message.from} filled />
            <Name name={message.from} />
            <span className="muted small">{fullTime(message.at)}</span>
          </span>
          <Snippet text={snippet} query={query} />
        </Link>
      ))}
    </section>
  );
}

/** What can be asked for, before anything was. */
function Start({ onTry }: { onTry: (example: string) => void }) {
  return (
    <section className="card stack search__group">
      <h2>{words.search.start}</h2>
      <p className="muted search__hint">{words.search.startText}</p>
      <dl className="search__operators">
        {words.search.operators.map(([operator, meaning, example]) => (
          <div key={operator}>
            <dt>
              <code>{operator}</code>
            </dt>
            <dd>
              <span className="grow">{meaning}</span>
              <button type="button" className="plain-button mono small" onClick={() => onTry(`${example} `)}>
                {example}
              </button>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

export default function SearchPage() {
  const [search, setSearch] = useSearchParams();
  const query = search.get('q') ?? '';
  const [text, setText] = useState(query);
  useEffect(() => setText(query), [query]);
  const answer = useQuery({
    queryKey: ['search', query],
    queryFn: () => get<Hits>(at('/api/search', { q: query, limit: 100 })),
    enabled: query.trim() !== '',
    retry: false,
  });
  const groups = useMemo(() => {
    const found = new Map<string, Hit[]>();
    for (const hit of answer.data?.hits ?? [])
      found.set(hit.message.conversation, [...(found.get(hit.message.conversation) ?? []), hit]);
    return [...found];
  }, [answer.data]);
  const ask = (next: string) => {
    setText(next);
    setSearch(next.trim() ? { q: next.trim() } : {}, { replace: true });
  };
  const removed = answer.data?.removed_by as
    | { filter?: string; operator?: string; hits?: number; count?: number; sentence?: string }
    | null
    | undefined;
  return (
    <Page title={words.search.title}>
      <form
        className="search"
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          ask(text);
        }}
      >
        <input
          className="field search__box"
          type="search"
          aria-label={words.search.box}
          placeholder={words.search.placeholder}
          value={text}
          onChange={(event) => setText(event.target.value)}
          data-region-focus=""
        />
        <button type="submit" className="plain-button plain-button--main">
          {words.search.title}
        </button>
      </form>
      <div className="search__under">
        {pillsOf(query).map((pill) => (
          <button key={pill} type="button" className="chip search__pill" onClick={() => ask(withoutPill(query, pill))}>
            {pill} ✕
          </button>
        ))}
        {query && <Command text={`moot search '${query.replaceAll("'", "'\\''")}'`} />}
      </div>
      {!query && <Start onTry={(example) => setText(example)} />}
      {answer.error && <ErrorNotice text={errorText(answer.error)} />}
      {groups.map(([id, hits]) => (
        <Group key={id} id={id} hits={hits} query={query} />
      ))}
      {answer.data && groups.length === 0 && (
        <Empty title={words.search.none}>
          <p>
            {removed
              ? (removed.sentence ??
                words.search.removedBy(removed.filter ?? removed.operator ?? '', removed.hits ?? removed.count ?? 0))
              : words.search.noneText}
          </p>
        </Empty>
      )}
    </Page>
  );
}

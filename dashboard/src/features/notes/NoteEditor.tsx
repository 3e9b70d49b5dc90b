/** One note: edited against the version it was read at, with its history and who may do what. */

import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { at, call, get, Refused, saidPlainly } from '@/api/client';
import type { Note } from '@/api/shapes';
import { Choice } from '@/parts/Fields';
import { Markdown } from '@/parts/Markdown';
import { useToast } from '@/parts/Toasts';
import { words } from '@/words';
import { DiffView } from './DiffView';
import { NoteHistory } from './NoteHistory';

interface Conflict {
  text: string;
  version: number;
  by: string;
}

export function NoteEditor({ name, newest, onGone }: { name: string; newest: Note | undefined; onGone: () => void }) {
  const toast = useToast();
  const path = `/api/notes/${encodeURIComponent(name)}`;
  const [base, setBase] = useState<Note | null>(null);
  const [text, setText] = useState('');
  const [mode, setMode] = useState<'edit' | 'preview'>('edit');
  const [conflict, setConflict] = useState<Conflict | null>(null);
  const [comparing, setComparing] = useState<number | null>(null);
  const first = useQuery({
    queryKey: ['note', name],
    queryFn: () => get<Note>(path),
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });
  const compared = useQuery({
    queryKey: ['note', name, comparing],
    queryFn: () => get<Note>(at(path, { version: comparing })),
    enabled: comparing !== null,
  });
  const changed = base !== null && text !== base.text;
  useEffect(() => {
    if (first.data && base === null) {
      setBase(first.data);
      setText(first.data.text);
    }
  }, [first.data, base]);
  // Somebody wrote a newer version: taken over silently while nothing is being edited, said otherwise.
  useEffect(() => {
    if (!newest || !base || newest.version <= base.version) return;
    if (text === base.text) {
      setBase(newest);
      setText(newest.text);
    } else setConflict({ text: newest.text, version: newest.version, by: newest.updated_by });
  }, [newest, base, text]);
  const save = async (over?: number) => {
    if (!base) return;
    const version = over ?? base.version;
    try {
      const saved = await call<Note>('PUT', path, { text, version });
      setBase(saved);
      setConflict(null);
      toast(words.notes.saved(saved.version));
    } catch (trouble) {
      if (trouble instanceof Refused && (trouble.problem.status === 409 || trouble.problem.status === 412)) {
        const now = await get<Note>(path);
        setConflict({ text: now.text, version: now.version, by: now.updated_by });
      } else toast(saidPlainly(trouble), { bad: true });
    }
  };
  const remove = async () => {
    try {
      await call('DELETE', path);
      onGone();
    } catch (trouble) {
      toast(saidPlainly(trouble), { bad: true });
    }
  };
  if (!base) return <div className="shell__loading">{first.error ? saidPlainly(first.error) : words.loading}</div>;
  return (
    <>
      <div className="note">
        <header className="note__head row row--wrap">
          <Link href="/notes" className="plain-button notes__back" aria-label={words.nav.back}>
            ‹
          </Link>
          <h2 className="cut">{name}</h2>
          <span className="chip">{words.notes.version(base.version)}</span>
          {changed && <span className="chip">{words.notes.changed}</span>}
          <span className="grow" />
          <Choice
            segments
            label={words.notes.edit}
            value={mode}
            onChange={(value) => setMode(value as 'edit' | 'preview')}
            options={[
              { value: 'edit', label: words.notes.edit },
              { value: 'preview', label: words.notes.preview },
            ]}
          />
          <button type="button" className="plain-button plain-button--main" onClick={() => save()} disabled={!changed}>
            {words.notes.save}
          </button>
        </header>
        {conflict && (
          <div className="notice note__conflict" role="alert" data-testid="conflict">
            <span className="grow">{words.notes.conflict(conflict.by, conflict.version, base.version)}</span>
            <button type="button" className="plain-button plain-button--line" onClick={() => save(conflict.version)}>
              {words.notes.keepMine}
            </button>
            <button
              type="button"
              className="plain-button plain-button--line"
              onClick={() => {
                setBase({ ...base, text: conflict.text, version: conflict.version });
                setText(conflict.text);
                setConflict(null);
              }}
            >
              {words.notes.takeTheirs}
            </button>
            <DiffView before={conflict.text} after={text} />
          </div>
        )}
        {comparing !== null && compared.data ? (
          <div className="note__body">
            <DiffView before={compared.data.text} after={base.text} />
          </div>
        ) : mode === 'edit' ? (
          <textarea
            className="note__box"
            aria-label={words.notes.text}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        ) : (
          <div className="note__body">
            <Markdown text={text} />
          </div>
        )}
      </div>
      <NoteHistory
        name={name}
        version={base.version}
        comparing={comparing}
        onCompare={setComparing}
        onDelete={remove}
      />
    </>
  );
}

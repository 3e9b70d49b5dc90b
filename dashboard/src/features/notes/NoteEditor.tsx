/** One note: edited against the version it was read at, with its history and who may do what. */

import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { at, call, errorText, get, Refused } from '@/api/client';
import type { Note } from '@/api/shapes';
import { Choice } from '@/parts/Fields';
import { Markdown } from '@/parts/Markdown';
import { useToast } from '@/parts/Toasts';
import { words } from '@/words';
import { DiffView } from './DiffView';
import { merge } from './merge';
import { NoteHistory } from './NoteHistory';
import { keepUnsaved, unsavedOf, useWarning } from './unsaved';

interface Conflict {
  text: string;
  version: number;
  by: string;
}

/** What is being edited: the text, and the version that it was made from. */
interface Editing {
  text: string;
  base: string;
  version: number;
}

const fresh = (note: Note): Editing => ({ text: note.text, base: note.text, version: note.version });

/** What was left unsaved comes back; otherwise what the hub has. */
function begun(name: string, note: Note): Editing {
  const left = unsavedOf(name);
  return left && left.text !== note.text ? left : fresh(note);
}

interface ConflictProps {
  conflict: Conflict;
  editing: Editing;
  onKeep(): void;
  onTake(): void;
  onMerge(): void;
}

function ConflictNotice({ conflict, editing, onKeep, onTake, onMerge }: ConflictProps) {
  return (
    <div className="notice note__conflict" role="alert" data-testid="conflict">
      <span className="grow">{words.notes.conflict(conflict.by, conflict.version, editing.version)}</span>
      <button type="button" className="plain-button plain-button--line" onClick={onMerge}>
        {words.notes.merge}
      </button>
      <button type="button" className="plain-button plain-button--line" onClick={onKeep}>
        {words.notes.keepMine}
      </button>
      <button type="button" className="plain-button plain-button--line" onClick={onTake}>
        {words.notes.takeTheirs}
      </button>
      <DiffView before={conflict.text} after={editing.text} />
    </div>
  );
}

export function NoteEditor({ name, newest, onGone }: { name: string; newest: Note | undefined; onGone: () => void }) {
  const toast = useToast();
  const path = `/api/notes/${encodeURIComponent(name)}`;
  const [editing, setEditing] = useState<Editing | null>(null);
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
  const changed = editing !== null && editing.text !== editing.base;
  useWarning(changed);
  useEffect(() => {
    if (!first.data || editing !== null) return;
    const start = begun(name, first.data);
    setEditing(start);
    if (start.text !== start.base) toast(words.notes.restored);
  }, [first.data, editing, name, toast]);
  useEffect(() => {
    if (editing) keepUnsaved(name, changed ? editing : null);
  }, [name, editing, changed]);
  // Somebody wrote a newer version: taken over silently while nothing is being edited, said otherwise.
  useEffect(() => {
    const known = newest ?? first.data;
    if (!known || !editing || known.version <= editing.version) return;
    if (editing.text === editing.base) setEditing(fresh(known));
    else setConflict({ text: known.text, version: known.version, by: known.updated_by });
  }, [newest, first.data, editing]);
  const save = async (over?: number) => {
    if (!editing) return;
    try {
      const saved = await call<Note>('PUT', path, { text: editing.text, version: over ?? editing.version });
      setEditing(fresh(saved));
      setConflict(null);
      toast(words.notes.saved(saved.version));
    } catch (error) {
      if (error instanceof Refused && (error.problem.status === 409 || error.problem.status === 412)) {
        const now = await get<Note>(path);
        setConflict({ text: now.text, version: now.version, by: now.updated_by });
      } else toast(errorText(error), { bad: true });
    }
  };
  const remove = async () => {
    try {
      await call('DELETE', path);
      keepUnsaved(name, null);
      setEditing(null);
      onGone();
    } catch (error) {
      toast(errorText(error), { bad: true });
    }
  };
  const settle = (text: string) => {
    if (!conflict) return;
    setEditing({ text, base: conflict.text, version: conflict.version });
    setConflict(null);
  };
  const mergeBoth = () => {
    if (!conflict || !editing) return;
    const names = { mine: words.notes.mine, theirs: conflict.by };
    const merged = merge(editing.base, editing.text, conflict.text, names);
    settle(merged.text);
    setMode('edit');
    toast(words.notes.merged(merged.conflicts));
  };
  if (!editing) return <div className="shell__loading">{first.error ? errorText(first.error) : words.loading}</div>;
  return (
    <>
      <div className="note">
        <header className="note__head row row--wrap">
          <Link href="/notes" className="plain-button notes__back" aria-label={words.nav.back}>
            ‹
          </Link>
          <h2 className="cut">{name}</h2>
          <span className="chip">{words.notes.version(editing.version)}</span>
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
          {changed && !conflict && (
            <button
              type="button"
              className="plain-button plain-button--line"
              onClick={() => setEditing({ ...editing, text: editing.base })}
            >
              {words.notes.discard}
            </button>
          )}
          <button type="button" className="plain-button plain-button--main" onClick={() => save()} disabled={!changed}>
            {words.notes.save}
          </button>
        </header>
        {conflict && (
          <ConflictNotice
            conflict={conflict}
            editing={editing}
            onKeep={() => void save(conflict.version)}
            onTake={() => settle(conflict.text)}
            onMerge={mergeBoth}
          />
        )}
        {comparing !== null && compared.data ? (
          <div className="note__body">
            <DiffView before={compared.data.text} after={editing.base} />
          </div>
        ) : mode === 'edit' ? (
          <textarea
            className="note__box"
            aria-label={words.notes.text}
            value={editing.text}
            onChange={(event) => setEditing({ ...editing, text: event.target.value })}
          />
        ) : (
          <div className="note__body">
            <Markdown text={editing.text} />
          </div>
        )}
      </div>
      <NoteHistory
        name={name}
        version={editing.version}
        comparing={comparing}
        onCompare={setComparing}
        onDelete={remove}
      />
    </>
  );
}

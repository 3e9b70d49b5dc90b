/** Notes that agents and people keep together. */
import { Modal } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { call, errorText, get } from '@/api/client';
import type { Note } from '@/api/shapes';
import { useLive } from '@/live/hooks';
import { TextField } from '@/parts/Fields';
import { Empty, ErrorNotice } from '@/parts/Page';
import { decoded } from '@/parts/talks';
import { words } from '@/words';
import './notes.css';
import { NoteEditor } from './NoteEditor';

function NewNote({ onClose, onMade }: { onClose: () => void; onMade: (name: string) => void }) {
  const [name, setName] = useState('');
  const [error, setError] = useState('');
  const create = async (event: FormEvent) => {
    event.preventDefault();
    try {
      const made = await call<Note>('POST', '/api/notes', { name: name.trim() });
      onMade(made.name);
    } catch (reason) {
      setError(errorText(reason));
    }
  };
  return (
    <Modal opened onClose={onClose} title={words.notes.create} closeButtonProps={{ 'aria-label': words.close }}>
      <form className="stack" onSubmit={create}>
        <TextField label={words.notes.name} value={name} onChange={setName} data-autofocus />
        {error && <ErrorNotice text={error} />}
        <button type="submit" className="plain-button plain-button--main" disabled={!name.trim()}>
          {words.notes.create}
        </button>
      </form>
    </Modal>
  );
}

export default function NotesPage({ params }: { params: Record<string, string | undefined> }) {
  const [, go] = useLocation();
  const name = params.name ? decoded(params.name) : null;
  const version = useLive((live) => live.versions.notes);
  const [creating, setCreating] = useState(false);
  const answer = useQuery({
    queryKey: ['notes', version],
    queryFn: () => get<{ notes: Note[] }>('/api/notes'),
    placeholderData: (before) => before,
  });
  const notes = answer.data?.notes ?? [];
  return (
    <div className={name ? 'notes notes--open' : 'notes'}>
      <div className="notes__list" data-region="notes">
        <div className="row notes__head">
          <h1 className="grow">{words.notes.title}</h1>
          <button
            type="button"
            className="plain-button plain-button--line"
            aria-label={words.notes.create}
            onClick={() => setCreating(true)}
          >
            +
          </button>
        </div>
        <nav aria-label={words.notes.title}>
          {notes.map((note) => (
            <Link
              key={note.name}
              href={`/notes/${encodeURIComponent(note.name)}`}
              className="notes__row"
              aria-current={note.name === name ? 'page' : undefined}
            >
              <span className="cut grow">{note.name}</span>
              <span className="muted small">{note.version}</span>
            </Link>
          ))}
        </nav>
      </div>
      {name ? (
        <NoteEditor
          key={name}
          name={name}
          newest={notes.find((note) => note.name === name)}
          onGone={() => go('/notes')}
        />
      ) : (
        <Empty title={notes.length ? words.notes.choose : words.notes.none}>
          <p>{notes.length ? words.notes.chooseText : words.notes.noneText}</p>
          <button type="button" className="plain-button plain-button--main" onClick={() => setCreating(true)}>
            {words.notes.create}
          </button>
        </Empty>
      )}
      {creating && (
        <NewNote
          onClose={() => setCreating(false)}
          onMade={(made) => {
            setCreating(false);
            go(`/notes/${encodeURIComponent(made)}`);
          }}
        />
      )}
    </div>
  );
}

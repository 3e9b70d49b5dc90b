/** Who may come in: your tokens, and links for others. */

import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { call, errorText, get, Refused } from '@/api/client';
import { useLive } from '@/live/hooks';
import { Command } from '@/parts/Command';
import { TextField } from '@/parts/Fields';
import { ErrorNotice } from '@/parts/Page';
import { useToast } from '@/parts/Toasts';
import { fullTime } from '@/parts/time';
import { words } from '@/words';

interface TokenRow {
  id: string;
  kind?: string;
  created_at: string | null;
  used_at: string | null;
  revoked_at: string | null;
}

const WEEK_SECONDS = 7 * 24 * 3600;

function Invite() {
  const [name, setName] = useState('');
  const [link, setLink] = useState('');
  const [error, setError] = useState('');
  const make = async (event: FormEvent) => {
    event.preventDefault();
    const who = name.trim();
    try {
      await call('POST', '/api/agents', { name: who, kind: 'human' }).catch((reason) => {
        if (!(reason instanceof Refused) || reason.problem.status !== 409) throw reason;
      });
      const made = await call<{ path: string }>('POST', `/api/agents/${encodeURIComponent(who)}/sign-in-codes`, {
        seconds: WEEK_SECONDS,
      });
      setLink(window.location.origin + made.path);
      setError('');
    } catch (reason) {
      setError(errorText(reason));
    }
  };
  return (
    <form className="stack" onSubmit={make}>
      <h2>{words.settings.invite}</h2>
      <p className="muted">{words.settings.inviteText}</p>
      <div className="row">
        <TextField
          aria-label={words.settings.inviteName}
          placeholder={words.settings.inviteName}
          value={name}
          onChange={setName}
        />
        <button type="submit" className="plain-button plain-button--line" disabled={!name.trim()}>
          {words.settings.inviteMake}
        </button>
      </div>
      {error && <ErrorNotice text={error} />}
      {link && <Command text={link} />}
    </form>
  );
}

export function Access() {
  const toast = useToast();
  const self = useLive((live) => live.self);
  const owner = useLive((live) => live.owner);
  const path = `/api/agents/${encodeURIComponent(self)}/tokens`;
  const answer = useQuery({
    queryKey: ['tokens', self],
    queryFn: () => get<{ tokens: TokenRow[] }>(path),
    staleTime: 0,
    retry: false,
  });
  const revoke = async (id: string) => {
    try {
      await call('DELETE', `${path}/${encodeURIComponent(id)}`);
      void answer.refetch();
    } catch (error) {
      toast(errorText(error), { bad: true });
    }
  };
  const tokens = (answer.data?.tokens ?? []).filter((token) => !token.revoked_at);
  return (
    <div className="stack settings__access">
      {owner && <Invite />}
      <h2>{words.settings.tokens}</h2>
      <p className="muted">{words.settings.thisOne}</p>
      {tokens.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys
        <div className="table-scroll" tabIndex={0}>
          <table className="grid grid--cards">
            <thead>
              <tr>
                <th scope="col">{words.settings.token.id}</th>
                <th scope="col">{words.settings.token.kind}</th>
                <th scope="col">{words.settings.token.created}</th>
                <th scope="col" className="settings__wide">
                  {words.settings.token.used}
                </th>
                <th scope="col">{words.settings.token.revoke}</th>
              </tr>
            </thead>
            <tbody>
              {tokens.map((token) => (
                <tr key={token.id}>
                  <td className="mono">{token.id}</td>
                  <td>{token.kind}</td>
                  <td>{fullTime(token.created_at)}</td>
                  <td className="settings__wide">{fullTime(token.used_at)}</td>
                  <td>
                    <button
                      type="button"
                      className="plain-button plain-button--line plain-button--bad"
                      onClick={() => revoke(token.id)}
                      aria-label={`${words.settings.token.revoke} ${token.id}`}
                    >
                      {words.settings.token.revoke}
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

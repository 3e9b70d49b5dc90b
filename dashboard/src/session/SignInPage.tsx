/** What somebody without a token sees: one sentence and one command. */
import { words } from '@/words';
import './sign-in.css';
import { Command } from '@/parts/Command';
import type { SignIn } from './session';

export function SignInPage({ signIn }: { signIn: Extract<SignIn, { state: 'out' }> }) {
  return (
    <main className="sign-in">
      <img src="/moot.svg" alt="" width="48" height="48" />
      <h1>{words.signIn.title}</h1>
      <p>{words.signIn[signIn.why]}</p>
      <Command text={words.signIn.command} />
      {signIn.detail && <p className="muted small">{signIn.detail}</p>}
      <p className="muted small">{words.signIn.private}</p>
    </main>
  );
}

/** Session → store → shell. Pages are loaded when they are first opened. */
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { StoreContext } from './live/hooks';
import { Store } from './live/store';
import { Announcer } from './parts/Announcer';
import { Toasts } from './parts/Toasts';
import { SessionContext } from './session/hooks';
import { SignInPage } from './session/SignInPage';
import type { Session, SignIn } from './session/session';
import { Shell } from './shell/Shell';
import { theme } from './theme/theme';

interface Props {
  session: Session;
  code: string | null;
  nonce: string;
}

const queries = new QueryClient({
  defaultOptions: { queries: { retry: 1, refetchOnWindowFocus: false, staleTime: 5_000 } },
});

function SignedIn() {
  const store = useMemo(() => new Store(window.sessionStorage), []);
  useEffect(() => {
    void store.open();
    return () => store.close();
  }, [store]);
  return (
    <StoreContext value={store}>
      <Announcer>
        <Toasts>
          <Shell />
        </Toasts>
      </Announcer>
    </StoreContext>
  );
}

export function App({ session, code, nonce }: Props) {
  const [signIn, setSignIn] = useState<SignIn | null>(null);
  const started = useRef(false);
  useEffect(() => {
    if (started.current) return;
    started.current = true;
    session.onEnd = (why) => {
      queries.clear();
      setSignIn({ state: 'out', why });
    };
    session.onLate = () => setSignIn({ state: 'in' });
    void session.start(code).then(setSignIn);
  }, [session, code]);
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <QueryClientProvider client={queries}>
        <SessionContext value={session}>
          {signIn?.state === 'in' && <SignedIn />}
          {signIn?.state === 'out' && <SignInPage signIn={signIn} />}
        </SessionContext>
      </QueryClientProvider>
    </MantineProvider>
  );
}

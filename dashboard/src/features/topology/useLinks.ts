/** What can be done with links. Every refusal is said in the hub's words. */
import { call, saidPlainly } from '@/api/client';
import type { Direction, Link, Relationship } from '@/api/shapes';
import { useStore } from '@/live/hooks';
import { useToast } from '@/parts/Toasts';
import { words } from '@/words';

const UNDO_MS = 10_000;

export interface Wanted {
  from: string;
  to: string;
  relationship: Relationship;
  direction: Direction;
}

export function useLinks() {
  const store = useStore();
  const toast = useToast();
  const told = (link: Link) => store.learn((state) => ({ ...state, links: { ...state.links, [link.id]: link } }));
  const refused = (trouble: unknown) => toast(saidPlainly(trouble), { bad: true });

  const create = async (wanted: Wanted): Promise<Link> => {
    const { cuts_off: cutsOff, ...link } = await call<Link & { cuts_off: Record<string, string[]> }>(
      'POST',
      '/api/links',
      wanted,
    );
    told(link as Link);
    for (const [who, whom] of Object.entries(cutsOff ?? {}))
      if (whom.length) toast(words.topology.cutsOff(who, whom.join(', ')));
    return link as Link;
  };
  const change = async (id: string, changes: Partial<Pick<Link, 'direction' | 'relationship' | 'enabled'>>) => {
    try {
      told(await call<Link>('PUT', `/api/links/${encodeURIComponent(id)}`, changes));
    } catch (trouble) {
      refused(trouble);
    }
  };
  /** Switched off at once, deleted when nobody has taken it back: so undoing it leaves the same link. */
  const remove = async (link: Link) => {
    await change(link.id, { enabled: false });
    let back = false;
    toast(words.topology.deleted, {
      undo: () => {
        back = true;
        void change(link.id, { enabled: link.enabled });
        store.learn((state) => ({ ...state, links: { ...state.links, [link.id]: link } }));
      },
    });
    store.learn((state) => {
      const { [link.id]: _gone, ...links } = state.links;
      return { ...state, links };
    });
    setTimeout(() => {
      if (!back) void call('DELETE', `/api/links/${encodeURIComponent(link.id)}`).catch(refused);
    }, UNDO_MS);
  };
  return { create, change, remove };
}

/** What can be done with links. Every refusal is said in the hub's words. */
import { call, errorText } from '@/api/client';
import type { Direction, Link, Relationship } from '@/api/shapes';
import { useStore } from '@/live/hooks';
import { useToast } from '@/parts/Toasts';
import { words } from '@/words';

export interface Wanted {
  from: string;
  to: string;
  relationship: Relationship;
  direction: Direction;
}

export function useLinks() {
  const store = useStore();
  const toast = useToast();
  const learn = (link: Link) => store.learn((state) => ({ ...state, links: { ...state.links, [link.id]: link } }));
  const refused = (error: unknown) => toast(errorText(error), { bad: true });

  const create = async (wanted: Wanted): Promise<Link> => {
    const { cuts_off: cutsOff, ...link } = await call<Link & { cuts_off: Record<string, string[]> }>(
      'POST',
      '/api/links',
      wanted,
    );
    learn(link as Link);
    for (const [who, whom] of Object.entries(cutsOff ?? {}))
      if (whom.length) toast(words.topology.cutsOff(who, whom.join(', ')));
    return link as Link;
  };
  const change = async (
    id: string,
    changes: Partial<Pick<Link, 'direction' | 'relationship' | 'enabled'>> & { override?: boolean },
  ) => {
    try {
      learn(await call<Link>('PUT', `/api/links/${encodeURIComponent(id)}`, changes));
    } catch (error) {
      refused(error);
    }
  };
  /** At once, whatever becomes of this tab. A link between the same two that comes back has its id and channel again. */
  const remove = async (link: Link) => {
    try {
      await call('DELETE', `/api/links/${encodeURIComponent(link.id)}`);
    } catch (error) {
      refused(error);
      return;
    }
    store.learn((state) => {
      const { [link.id]: _gone, ...links } = state.links;
      return { ...state, links };
    });
    toast(words.topology.deleted, { undo: () => void again(link) });
  };
  const again = async ({ from, to, relationship, direction, enabled }: Link) => {
    try {
      const made = await create({ from, to, relationship, direction } as Wanted);
      if (!enabled) await change(made.id, { enabled });
    } catch (error) {
      refused(error);
    }
  };
  return { create, change, remove };
}

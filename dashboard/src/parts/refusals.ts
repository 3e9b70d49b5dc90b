/** What an agent was refused, in words: the record has the rule by its name. Pure. */
import type { AuditEntry } from '@/api/shapes';
import { words } from '@/words';

export function refusalText(entry: AuditEntry): string {
  const { to = '', what = '', rule, bar, code } = entry.detail as Record<string, string | undefined>;
  const { refusals } = words;
  const why = refusals.rules[bar ?? ''] ?? refusals.rules[rule ?? ''] ?? rule ?? bar ?? code ?? '';
  return refusals.text(entry.on_behalf_of || entry.by, to, what, why, entry.count);
}

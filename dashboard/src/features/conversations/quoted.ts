/** A message as it is quoted elsewhere: who said it, where, and its words as a quotation, in which nobody is called. */
import type { Message } from '@/api/shapes';

const CODE = /(```[\s\S]*?(?:```|$)|`[^`\n]*`)/;
const CALL = /(^|[^\w\\])@(?=[A-Za-z])/g;

/** Names stay readable and call nobody: a backslash before @ says so, to Markdown and to the hub. Code stays as it is. */
export const uncalled = (text: string): string =>
  text
    .split(CODE)
    .map((part, index) => (index % 2 ? part : part.replace(CALL, '$1\\@')))
    .join('');

export const quoted = (text: string): string =>
  uncalled(text)
    .split('\n')
    .map((line) => (line ? `> ${line}` : '>'))
    .join('\n');

export const quotation = (message: Message, source: string, note = ''): string =>
  [note.trim(), source, quoted(message.text)].filter(Boolean).join('\n\n');

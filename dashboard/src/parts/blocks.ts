/** Splits Markdown where one block surely ends: at blank lines outside fences, lists and quotes. */
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const CONTINUES = /^(\s+\S|\s*([-*+]|\d+[.)])\s|\s*>|\s*\|)/;

export function blocksOf(text: string): string[] {
  // Definitions of references and footnotes are seen from everywhere: such a text stays whole.
  if (/^ {0,3}\[[^\]]+\]:/m.test(text)) return [text];
  const blocks: string[] = [];
  let lines: string[] = [];
  let fence: string | null = null;
  const all = text.split('\n');
  for (const [index, line] of all.entries()) {
    const mark = FENCE.exec(line)?.[1];
    if (fence === null && mark) fence = mark;
    else if (fence !== null && mark && mark[0] === fence[0] && mark.length >= fence.length) fence = null;
    lines.push(line);
    const next = all[index + 1];
    if (fence === null && line.trim() === '' && next !== undefined && !CONTINUES.test(next) && next.trim() !== '') {
      blocks.push(lines.join('\n'));
      lines = [];
    }
  }
  if (lines.length) blocks.push(lines.join('\n'));
  return blocks;
}

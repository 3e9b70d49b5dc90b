import { describe, expect, it } from 'vitest';
import { merge } from '@/features/notes/merge';

const NAMES = { mine: 'yours', theirs: 'gendry' };
const BASE = 'one\ntwo\nthree\nfour\nfive';

describe('merging two changes of one text', () => {
  it('takes both where they do not touch', () => {
    const merged = merge(BASE, 'ONE\ntwo\nthree\nfour\nfive', 'one\ntwo\nthree\nfour\nFIVE\nsix', NAMES);
    expect(merged).toEqual({ text: 'ONE\ntwo\nthree\nfour\nFIVE\nsix', conflicts: 0 });
  });

  it('takes what only one of them changed', () => {
    expect(merge(BASE, BASE, 'one\nthree\nfour\nfive', NAMES).text).toBe('one\nthree\nfour\nfive');
    expect(merge(BASE, 'zero\none\ntwo\nthree\nfour\nfive', BASE, NAMES).text).toBe(
      'zero\none\ntwo\nthree\nfour\nfive',
    );
  });

  it('takes once what both changed alike', () => {
    const both = 'one\n2\nthree\nfour\nfive';
    expect(merge(BASE, both, both, NAMES)).toEqual({ text: both, conflicts: 0 });
  });

  it('leaves to a person what both changed, and loses neither text', () => {
    const merged = merge(BASE, 'one\nmine\nthree\nfour\nfive', 'one\ntheirs\nthree\nfour\n5', NAMES);
    expect(merged.conflicts).toBe(1);
    expect(merged.text).toBe('one\n<<<<<<< yours\nmine\n=======\ntheirs\n>>>>>>> gendry\nthree\nfour\n5');
  });

  it('holds for any three texts: a side that changed nothing changes nothing', () => {
    const texts = ['', 'a', 'a\nb', 'b\na', 'a\n\nb\n', 'x\ny\nz', 'a\nx\nb\ny'];
    for (const base of texts)
      for (const other of texts) {
        expect(merge(base, base, other, NAMES)).toEqual({ text: other, conflicts: 0 });
        expect(merge(base, other, base, NAMES)).toEqual({ text: other, conflicts: 0 });
        expect(merge(base, other, other, NAMES)).toEqual({ text: other, conflicts: 0 });
      }
  });
});

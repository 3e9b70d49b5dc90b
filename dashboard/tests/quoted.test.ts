import { expect, it } from 'vitest';
import { quoted, uncalled } from '@/features/conversations/quoted';

it('quotes line by line, and calls nobody who is named', () => {
  expect(quoted('@arya look\n\n**@gendry** and (@critic), a@example.org')).toBe(
    '> \\@arya look\n>\n> **\\@gendry** and (\\@critic), a@example.org',
  );
});

it('leaves code as it is, in which nobody is called anyway', () => {
  const code = 'see `@arya`\n```python\n@property\n```';
  expect(uncalled(code)).toBe(code);
  expect(uncalled('\\@arya already')).toBe('\\@arya already');
});

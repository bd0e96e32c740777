/** Which texts are one address, and how it is kept. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normalizeEmail } from '../../src/team/email-address.ts';

test('an address is kept in lower case, its domain as A-labels', () => {
  const cases = [
    ['ann@example.com', 'ann@example.com'],
    ['Ann.Lee+Work@Example.COM', 'ann.lee+work@example.com'],
    ["o'neil_x{}@mail.example.org.", "o'neil_x{}@mail.example.org"],
    ['ann@Bücher.example', 'ann@xn--bcher-kva.example'],
    ['ops@localhost', 'ops@localhost'],
    [`${'a'.repeat(64)}@example.com`, `${'a'.repeat(64)}@example.com`],
  ];
  for (const [given, kept] of cases) assert.equal(normalizeEmail(given!), kept, given);
});

test('what is no address, or more than one, is refused', () => {
  const wrong = ['', '@', 'ann', 'ann@', '@example.com', 'ann@@example.com', 'a b@example.com'];
  wrong.push('a,b@example.com', 'a@x.example,b@y.example', '<ann@example.com>', 'ann;b@x.example');
  wrong.push('"ann"@example.com', 'ann(x)@example.com', '.ann@example.com', 'ann.@example.com');
  wrong.push('an..n@example.com', 'änn@example.com', 'ann@exa mple.com', 'ann@-x.example');
  wrong.push('ann\r\nBcc: b@x.example', 'ann@example.com\r\nBcc: bob', 'ann\u0000@example.com');
  wrong.push(`${'a'.repeat(65)}@example.com`, `ann@${'a.'.repeat(130)}example`);
  wrong.push(`${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}.example`);
  for (const text of wrong) assert.equal(normalizeEmail(text), null, text);
});

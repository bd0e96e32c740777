/** Reads the blocks of Terraform’s language (HCL) that the service writes, and fails for anything else. */

import assert from 'node:assert/strict';

interface Block {
  resource: string;
  label: string;
  attributes: Record<string, unknown>;
}

/** https://github.com/hashicorp/hcl/blob/main/hclsyntax/spec.md */
export function readBlocks(text: string): Block[] {
  let at = 0;
  const take = (pattern: RegExp): string => {
    const found = new RegExp(pattern.source, 'y');
    found.lastIndex = at;
    const match = found.exec(text);
    assert.ok(match, `${pattern} expected at: ${text.slice(at, at + 60)}`);
    at += match[0].length;
    return match[0];
  };
  const sees = (character: string) => {
    take(/[ \n]*/);
    return text[at] === character;
  };
  const string = () => {
    const raw = take(/"(?:[^"\\\n]|\\(?:["\\nrt]|u[0-9a-f]{4}))*"/);
    // `${` and `%{` begin a template, unless their first character is doubled.
    assert.doesNotMatch(raw.replace(/\$\$\{|%%\{/g, ''), /[$%]\{/, 'a template');
    return JSON.parse(raw).replace(/([$%])\1\{/g, '$1{') as string;
  };
  const list = <T>(open: string, close: string, item: () => T): T[] => {
    take(new RegExp(`\\${open}`));
    const items: T[] = [];
    while (!sees(close)) {
      items.push(item());
      if (sees(',')) take(/, */);
    }
    take(new RegExp(`\\${close}`));
    return items;
  };
  const value = (): unknown => {
    if (sees('"')) return string();
    if (sees('[')) return list('[', ']', value);
    if (sees('{')) return Object.fromEntries(list('{', '}', attribute));
    const word = take(/[\w.]+/);
    return /^\d+$/.test(word) ? Number(word) : { reference: word };
  };
  const attribute = (): [string, unknown] => {
    const name = take(/[a-z][a-z0-9_]*/);
    take(/ *= */);
    return [name, value()];
  };
  const blocks: Block[] = [];
  while (at < text.trimEnd().length) {
    take(/[ \n]*resource "/);
    const resource = take(/[a-z0-9_]+/);
    take(/" "/);
    const label = take(/[a-z_][a-z0-9_-]*/);
    take(/" \{\n/);
    const attributes: Record<string, unknown> = {};
    while (!sees('}')) {
      const [name, content] = attribute();
      assert.ok(!(name in attributes), `${name} twice`);
      attributes[name] = content;
      take(/\n/);
    }
    take(/\}/);
    blocks.push({ resource, label, attributes });
  }
  return blocks;
}

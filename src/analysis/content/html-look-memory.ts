/** Remembers looks: in a message the same declarations meet the same surroundings again and again. */

import { MAX_COLOR } from './html-colors.ts';
import type { Look } from './html-look.ts';
import type { Attributes } from './html-tokens.ts';

interface LookMemory {
  /**
   * What `make` returned for this parent, tag, attributes and declarations, which are told apart by
   * identity. What is hidden by a cause of its own has another cause each time.
   */
  remember(
    parent: Look,
    declarations: [object, object],
    tag: string,
    attributes: Attributes,
    make: () => Look,
  ): Look;
}

/** Visible looks that are told apart; more than these are all new ones. */
const MAX_LOOKS = 5000;

/** What is remembered, and sets of declarations that are told apart: a message made of new ones gains nothing. */
const MAX_REMEMBERED = 5000;
const MAX_IDS = 10_000;

export function lookMemory(): LookMemory {
  const children = new WeakMap<Look, Map<string, Look>>();
  const visible = new Map<string, Look>();
  const ids = new WeakMap<object, number>();
  let lastId = 0;
  let remembered = 0;
  const idOf = (object: object): number | undefined => {
    let id = ids.get(object);
    if (id === undefined && lastId < MAX_IDS) {
      lastId += 1;
      id = lastId;
      ids.set(object, id);
    }
    return id;
  };
  /** The one object for all looks that are the same to see. */
  const theSame = (look: Look, parent: Look): Look => {
    if (look.cause !== null && look.cause !== parent.cause) return look;
    const key = keyOf(look);
    if (key === keyOf(parent) && look.cause === parent.cause) return parent;
    if (look.cause !== null) return look;
    const there = visible.get(key);
    if (!there && visible.size < MAX_LOOKS) visible.set(key, look);
    return there ?? look;
  };
  return {
    remember(parent, [styles, own], tag, attributes, make) {
      const [a, b] = [idOf(styles), idOf(own)];
      if (a === undefined || b === undefined) return theSame(make(), parent);
      const key = `${a} ${b} ${tag} ${attributesThatCount(attributes)}`;
      const known = children.get(parent);
      const there = known?.get(key);
      if (there) return there.cause === there ? causedByItself(there) : there;
      const look = theSame(make(), parent);
      remembered += 1;
      if (remembered > MAX_REMEMBERED) return look;
      if (known) known.set(key, look);
      else children.set(parent, new Map([[key, look]]));
      return look;
    },
  };
}

const keyOf = (look: Look): string =>
  `${look.box} ${look.silent} ${look.partial} ${look.invisible} ${look.fontSize} ${look.farIndent} ${look.color} ${look.background} ${look.hides}`;

function causedByItself(look: Look): Look {
  const copy = { ...look };
  copy.cause = copy;
  return copy;
}

/** Those by which an element looks as it does, with the lengths of their values so that none passes for two. */
function attributesThatCount(attributes: Attributes): string {
  let key = '';
  for (const name of ['hidden', 'background', 'href']) if (attributes.has(name)) key += `${name} `;
  for (const name of ['bgcolor', 'color', 'text']) {
    const value = attributes.get(name)?.slice(0, MAX_COLOR);
    if (value !== undefined) key += `${name} ${value.length} ${value} `;
  }
  return key;
}

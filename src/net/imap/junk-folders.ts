/** Which folders of a mailbox hold spam: those that the server flags (RFC 6154), or else those with a known name. */

import junkNames from './junk-folders.json' with { type: 'json' };

export interface ImapFolder {
  /** The full name, decoded. */
  path: string;
  /** The last part of the name. */
  name: string;
  parent: string;
  /** As the server sent them. */
  flags: string[];
}

/** In the languages of common servers and email clients, without hyphens and underscores. */
const JUNK_NAMES = new Set(Object.values(junkNames).flat());

/** Folders that other folders can be in without being those of a person's own filing. */
const ROOTS = ['', 'inbox', '[gmail]', '[google mail]'];

const normalized = (name: string): string =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_-]+/g, ' ')
    .trim();

const hasFlag = ({ flags }: ImapFolder, ...wanted: string[]): boolean =>
  flags.some((flag) => wanted.includes(flag.toLowerCase()));

/**
 * The spam folders, those that the server flags first. `expected` are names that the provider or the administrator
 * gives; they count in addition. Empty if no folder is recognized.
 */
export function junkFolders(folders: ImapFolder[], expected: string[] = []): ImapFolder[] {
  const selectable = folders.filter(
    (folder) => !hasFlag(folder, '\\noselect', '\\nonexistent') && !/^inbox$/i.test(folder.path),
  );
  const flagged = selectable.filter((folder) => hasFlag(folder, '\\junk', '\\spam'));
  const names = expected.map(normalized);
  const named = selectable.filter(
    ({ path, name, parent }) =>
      names.includes(normalized(path)) || (isRoot(parent) && names.includes(normalized(name))),
  );
  const found = [...new Set([...flagged, ...named])];
  if (found.length > 0) return found;
  return selectable.filter(
    (folder) =>
      isRoot(folder.parent) &&
      JUNK_NAMES.has(normalized(folder.name)) &&
      // A folder with another purpose, whatever its name.
      !hasFlag(folder, '\\sent', '\\drafts', '\\trash', '\\archive', '\\all', '\\flagged'),
  );
}

const isRoot = (parent: string): boolean => ROOTS.includes(parent.toLowerCase());

/** Fields for tags, separated by commas: what they contain, and the tags of domains that they suggest. */

import { normalizeTag } from '../../http/tags.ts';
import { oneLine } from '../../report/blocks.ts';
import type { FormProblem } from './form.tsx';

/** "a, b,": the tags a and b. Repeated ones count once. */
export function splitTags(text: string): string[] {
  const tags = text.split(',').map((tag) => tag.trim());
  const seen = new Set<string>();
  return tags.filter((tag) => {
    const key = normalizeTag(tag);
    if (key === '' || seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** For `submit`: a label for each tag, so that messages name it. */
export const tagLabels = (tags: string[]): Record<string, string> => ({
  tags: 'list',
  ...Object.fromEntries(tags.map((tag, index) => [`tags.${index}`, `tag “${oneLine(tag, 60)}”`])),
});

/** The error of the list of tags, or of the first wrong tag. */
export const tagsError = ({ fields }: FormProblem): string | undefined =>
  Object.entries(fields).find(([name]) => name.split('.')[0] === 'tags')?.[1];

/** The value of the attribute `list`. */
export const TAG_LIST = 'known-tags';

export const TagOptions = ({ tags }: { tags: string[] }) => (
  <datalist id={TAG_LIST}>
    {tags.map((tag) => (
      <option key={tag} value={tag} />
    ))}
  </datalist>
);

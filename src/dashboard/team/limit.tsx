/** The field "Limited to tags" of members, invitations, keys and assistants. */

import { type FormProblem, TextField } from '../frame/form.tsx';
import { splitTags, TAG_LIST, tagsError } from '../frame/tags-field.tsx';

interface Props {
  value?: string;
  problem?: FormProblem | null;
  /** The limit of the reader, whose key or assistant can't see more. */
  limit?: string[] | null;
}

export function LimitField({ value, problem, limit = null }: Props) {
  return (
    <TextField
      name="tags"
      label="Limited to tags"
      list={TAG_LIST}
      hint={
        limit
          ? `Separate tags with commas. Leave empty for your own limit: ${limit.join(', ')}.`
          : 'Only domains and tests with one of these tags are visible, such as client:acme. Separate tags with commas. Leave empty for no limit. For viewers and members only.'
      }
      value={value}
      error={problem ? tagsError(problem) : undefined}
    />
  );
}

/** What the field says: null for everything. */
export const readTags = (typed: string): string[] | null => {
  const tags = splitTags(typed);
  return tags.length === 0 ? null : tags;
};

/** A note below a role. */
export const LimitNote = ({ tags }: { tags: string[] | null }) =>
  tags && <span class="row-note">Only {tags.join(', ')}</span>;

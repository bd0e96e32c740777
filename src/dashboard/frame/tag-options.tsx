/** The tags of domains, which fields that ask for tags suggest. */

/** The value of the attribute `list`. */
export const TAG_LIST = 'known-tags';

export const TagOptions = ({ tags }: { tags: string[] }) => (
  <datalist id={TAG_LIST}>
    {tags.map((tag) => (
      <option key={tag} value={tag} />
    ))}
  </datalist>
);

/** Where on a page a report stands: alone, or as one of many, with anchors and headings of its own. */

import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';

interface Place {
  /** Before every anchor, so that none is there twice. */
  prefix: string;
  /** By how much its headings stand below those of a report alone. */
  depth: number;
  /** Without the evidence of what passed and the points of each check. */
  brief?: boolean;
}

const PlaceOnPage = createContext<Place>({ prefix: '', depth: 0 });

interface AtProps extends Place {
  children: ComponentChildren;
}

export function At({ children, ...place }: AtProps) {
  return <PlaceOnPage.Provider value={place}>{children}</PlaceOnPage.Provider>;
}

export const useBrief = (): boolean => useContext(PlaceOnPage).brief === true;

/** What makes an anchor of a report one of the page. */
export function useAnchor(): (name: string) => string {
  const { prefix } = useContext(PlaceOnPage);
  return (name) => prefix + name;
}

/** The heading that names a part as a landmark: of many reports alike, each with the same, none is one. */
export function useLandmark(): (id: string) => string | undefined {
  const { depth } = useContext(PlaceOnPage);
  return (id) => (depth === 0 ? id : undefined);
}

interface HeadingProps {
  /** As in a report alone; it looks like that everywhere. */
  rank: 1 | 2 | 3 | 4;
  id?: string;
  children: ComponentChildren;
}

export function Heading({ rank, id, children }: HeadingProps) {
  const { depth } = useContext(PlaceOnPage);
  const Tag = `h${rank}` as const;
  return (
    <Tag id={id} aria-level={depth > 0 ? rank + depth : undefined}>
      {children}
    </Tag>
  );
}

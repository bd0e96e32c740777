/** How many calls at once each endpoint may have, so that one in trouble delays no other. */

/** Calls at once to one endpoint, and to all. */
const MOST_PER_ENDPOINT = 10;
const MOST_IN_ALL = 200;
/** The fuller it is, the fewer an endpoint may have: twenty that stop answering at once do not fill it. */
const MOST_PER_ENDPOINT_FROM: [running: number, each: number][] = [
  [150, 2],
  [100, 5],
  [0, MOST_PER_ENDPOINT],
];
/** What an endpoint begins with; each success adds one, each failure halves. */
const UNPROVEN = 2;
/** From so many calls to such endpoints together on, each has one only: the next one always finds room. */
const MANY_UNPROVEN = 100;

export interface Slots {
  /** How many more calls to it may begin now. */
  room(endpointId: string): number;
  begin(endpointId: string): void;
  /** null: it came to nothing that tells of the endpoint. */
  end(endpointId: string, succeeded: boolean | null): void;
}

interface Use {
  allowed: number;
  running: number;
}

export function createSlots(): Slots {
  const uses = new Map<string, Use>();
  let all = 0;
  const useOf = (id: string): Use => uses.get(id) ?? { allowed: UNPROVEN, running: 0 };
  const unproven = () => {
    let sum = 0;
    for (const { allowed, running } of uses.values()) if (allowed <= UNPROVEN) sum += running;
    return sum;
  };
  return {
    room(id) {
      const { allowed, running } = useOf(id);
      const [, each] = MOST_PER_ENDPOINT_FROM.find(([from]) => all >= from)!;
      const left = Math.min(Math.min(allowed, each) - running, MOST_IN_ALL - all);
      if (allowed > UNPROVEN || unproven() < MANY_UNPROVEN) return Math.max(0, left);
      return Math.max(0, Math.min(left, 1 - running));
    },
    begin(id) {
      const use = useOf(id);
      use.running++;
      all++;
      uses.set(id, use);
    },
    end(id, succeeded) {
      const use = useOf(id);
      use.running--;
      all--;
      if (succeeded) use.allowed = Math.min(MOST_PER_ENDPOINT, use.allowed + 1);
      else if (succeeded === false) use.allowed = Math.max(1, Math.floor(use.allowed / 2));
      // What it would begin with again need not be remembered.
      if (use.running === 0 && use.allowed === UNPROVEN) uses.delete(id);
    },
  };
}

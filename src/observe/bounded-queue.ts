/** Creates a first-in, first-out queue with a fixed capacity. A ring buffer, so adding an item takes constant time. */
export function createBoundedQueue<Item>(capacity: number) {
  const slots: (Item | undefined)[] = [];
  let first = 0;
  let size = 0;
  return {
    get size(): number {
      return size;
    },
    /** Returns false if the oldest item was dropped. */
    push(item: Item): boolean {
      slots[(first + size) % capacity] = item;
      if (size < capacity) {
        size++;
        return true;
      }
      first = (first + 1) % capacity;
      return false;
    },
    /** Removes and returns the oldest items, at most `max`. */
    take(max: number): readonly Item[] {
      const taken: Item[] = [];
      while (taken.length < max && size > 0) {
        taken.push(slots[first] as Item);
        slots[first] = undefined;
        first = (first + 1) % capacity;
        size--;
      }
      // Resetting keeps the ring no larger than the longest queue so far.
      if (size === 0) first = 0;
      return taken;
    },
  };
}

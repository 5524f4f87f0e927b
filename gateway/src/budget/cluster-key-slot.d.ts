// The package has no types of its own.
declare module 'cluster-key-slot' {
  /** The slot of a key, from 0 to 16383 (Redis Cluster specification, "Key distribution model"). */
  export default function slotOf(key: string): number;
}

// The two environments, and the rule that a store belongs to the one that first wrote to it (contract, section 2).

export type Environment = 'sandbox' | 'production';

/** Throws where a store already belongs to the other environment. `store` names it for the operator. */
export function refuseForeignStore(store: string, owner: string, environment: Environment): void {
  if (owner !== environment) {
    throw new Error(
      `the ${store} store belongs to the ${owner} environment; it cannot be opened as ${environment}`,
    );
  }
}

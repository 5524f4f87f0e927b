// The graphs that our executor is compared with stock @apollo/gateway on.
import { interfaceObject, interfaceObjectRequires, interfaces, unions } from './abstract.ts';
import type { TestGraph } from './graph.ts';
import { nestedLists, severalKeys, unresolvableKeys } from './keys.ts';
import { override, provides, shared, values } from './ownership.ts';
import { repeats } from './repeats.ts';
import { circular, requiresArguments, requiresChains, requiresFragments } from './requires.ts';

export const GRAPHS: Readonly<Record<string, TestGraph>> = {
  'interface objects': interfaceObject,
  'interface objects with @requires': interfaceObjectRequires,
  'interfaces of several subgraphs': interfaces,
  'unions with other members in each subgraph': unions,
  '@requires with arguments': requiresArguments,
  'chains of @requires': requiresChains,
  '@requires with fragments': requiresFragments,
  'circular @requires': circular,
  'several keys, some of them null': severalKeys,
  'lists of lists': nestedLists,
  'keys that lead to only some subgraphs': unresolvableKeys,
  '@provides on objects, interfaces and unions': provides,
  '@override, also progressive': override,
  '@shareable, @external and @inaccessible': shared,
  'the same entities at many places': repeats,
  'enums, inputs and mutations': values,
};
